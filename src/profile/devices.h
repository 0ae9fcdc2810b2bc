/* The devices of a process by their numbers; the first of a number counts. */
#ifndef GPUPROF_PROFILE_DEVICES_H
#define GPUPROF_PROFILE_DEVICES_H

#include "profile/record.h"

#include <stdbool.h>

/* All zero is none. Some 20 KB: not for a stack. */
struct gp_devices {
    struct gp_device list[GP_MAX_DEVICES];
    bool known[GP_MAX_DEVICES];
};

/* True where it is new. One of a number that no device has is left out. */
bool gp_devices_add(struct gp_devices *devices, const struct gp_device *device);

/* NULL where none has the number. */
const struct gp_device *gp_devices_get(const struct gp_devices *devices, int number);

void gp_devices_forget(struct gp_devices *devices);

#endif
