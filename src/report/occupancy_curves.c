#include "report/occupancy_curves.h"

#include "metrics/metrics.h"
#include "metrics/occupancy.h"
#include "report/json.h"

#define MOST_REGISTERS 256
#define REGISTERS_STEP 8
#define SHARED_STEPS 64
#define MOST_BLOCK_STEPS 64

static int warps(const struct gp_device *device, const struct gp_record *launch)
{
    struct gp_occupancy o;
    char why[GP_WHY_SIZE];
    return gp_occupancy_of(device, launch, &o, why, sizeof(why)) ? o.warps_per_sm : 0;
}

static void with_block(struct gp_record *l, size_t threads)
{
    l->block[0] = (unsigned)threads;
    l->block[1] = l->block[2] = 1;
    l->max_threads_per_block = 0; /* __launch_bounds__ would be changed along with it */
}

static void with_registers(struct gp_record *l, size_t registers)
{
    l->registers = registers < MOST_REGISTERS ? (unsigned)registers : MOST_REGISTERS - 1;
}

static void with_shared(struct gp_record *l, size_t bytes)
{
    l->shared_static = 0;
    l->shared_dynamic = (unsigned)bytes;
    l->max_shared_dynamic = (unsigned)bytes;
}

static void add_curve(const char *name, const struct gp_device *device,
                      const struct gp_record *launch, size_t first, size_t step, size_t count,
                      void (*with)(struct gp_record *l, size_t value), struct gp_text *out)
{
    gp_json_key(out, name);
    gp_text_addf(out, "{\"first\":%zu,\"step\":%zu,\"warps\":[", first, step);
    for (size_t i = 0; i < count; i++) {
        struct gp_record changed = *launch;
        with(&changed, first + i * step);
        gp_json_next(out);
        gp_text_addf(out, "%d", warps(device, &changed));
    }
    gp_text_add(out, "]}");
}

void gp_occupancy_curves_json(const struct gp_device *d, const struct gp_record *l,
                              struct gp_text *out)
{
    size_t warp = d->warp_size > 0 ? (size_t)d->warp_size : 32;
    size_t blocks = d->max_threads_per_block > 0 ? (size_t)d->max_threads_per_block / warp : 0;
    if (blocks > MOST_BLOCK_STEPS)
        blocks = MOST_BLOCK_STEPS;
    size_t most_shared =
        d->shared_per_block_optin > 0 ? d->shared_per_block_optin : d->shared_per_block;
    size_t shared_step = (most_shared / SHARED_STEPS + 1023) / 1024 * 1024;
    size_t shared_count = shared_step > 0 ? most_shared / shared_step + 1 : 0;
    gp_text_add(out, "{");
    add_curve("block", d, l, warp, warp, blocks, with_block, out);
    add_curve("registers", d, l, REGISTERS_STEP, REGISTERS_STEP, MOST_REGISTERS / REGISTERS_STEP,
              with_registers, out);
    add_curve("shared", d, l, 0, shared_step, shared_count, with_shared, out);
    gp_text_add(out, "}");
}
