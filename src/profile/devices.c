#include "profile/devices.h"

#include <string.h>

bool gp_devices_add(struct gp_devices *devices, const struct gp_device *device)
{
    int i = device->ordinal;
    if (i < 0 || i >= GP_MAX_DEVICES || devices->known[i])
        return false;
    devices->list[i] = *device;
    devices->known[i] = true;
    return true;
}

const struct gp_device *gp_devices_get(const struct gp_devices *devices, int number)
{
    bool known = number >= 0 && number < GP_MAX_DEVICES && devices->known[number];
    return known ? &devices->list[number] : NULL;
}

void gp_devices_forget(struct gp_devices *devices)
{
    memset(devices->known, 0, sizeof(devices->known));
}
