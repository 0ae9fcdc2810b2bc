#include "profile/fields.h"

#define FIELD(record, kind, name, needed, once)                                                    \
    {                                                                                              \
#name, GP_FIELD_##kind, offsetof(struct record, name), sizeof(((struct record *)0)->name), \
            needed, once                                                                           \
    }
#define DEVICE(kind, name, needed) FIELD(gp_device, kind, name, needed, 0)
#define LAUNCH(kind, name, needed) FIELD(gp_record, kind, name, needed, 0)
#define ONCE(kind, name, needed) FIELD(gp_record, kind, name, needed, 1)
#define COUNT(kind, name, needed) FIELD(gp_count, kind, name, needed, 0)
#define SUM(kind, name, needed) FIELD(gp_sum, kind, name, needed, 0)
#define WHOLE(kind, name, needed) FIELD(gp_whole_times, kind, name, needed, 0)
#define SUCCESSION(kind, name, needed) FIELD(gp_succession, kind, name, needed, 0)
#define BEFORE(kind, label, member)                                                          \
    {                                                                                        \
        label, GP_FIELD_##kind, offsetof(struct gp_succession, configuration_before.member), \
            sizeof(((struct gp_succession *)0)->configuration_before.member), 0, 0           \
    }
#define END(kind, name, needed) FIELD(gp_end, kind, name, needed, 0)

const struct gp_field gp_device_fields[] = {
    DEVICE(INT, ordinal, 1),
    DEVICE(TEXT, name, 0),
    DEVICE(TEXT, chip, 0),
    DEVICE(INT, cc_major, 1),
    DEVICE(INT, cc_minor, 1),
    DEVICE(INT, sm_count, 0),
    DEVICE(INT, clock_khz, 0),
    DEVICE(INT, memory_clock_khz, 0),
    DEVICE(INT, memory_bus_bits, 0),
    DEVICE(INT, sp_dp_ratio, 0),
    DEVICE(INT, warp_size, 0),
    DEVICE(INT, max_threads_per_sm, 0),
    DEVICE(INT, max_blocks_per_sm, 0),
    DEVICE(INT, max_threads_per_block, 0),
    DEVICE(INT, registers_per_sm, 0),
    DEVICE(INT, registers_per_block, 0),
    DEVICE(INT, l2_bytes, 0),
    DEVICE(SIZE, shared_per_sm, 0),
    DEVICE(SIZE, shared_per_block, 0),
    DEVICE(SIZE, shared_per_block_optin, 0),
    DEVICE(SIZE, reserved_shared_per_block, 0),
    DEVICE(SIZE, total_memory, 0),
    DEVICE(INT, driver_version, 0),
    DEVICE(U32, cupti_version, 0),
    DEVICE(INT, event_counters, 0),
    DEVICE(INT, simulated, 0),
};
const size_t gp_device_field_count = sizeof(gp_device_fields) / sizeof(gp_device_fields[0]);

const struct gp_field gp_launch_fields[] = {
    LAUNCH(U64, index, 1),
    ONCE(STRING, kernel, 1),
    ONCE(INT, device, 1),
    ONCE(U64, context, 0),
    LAUNCH(U64, stream, 0),
    ONCE(EXTENT, grid, 1),
    ONCE(EXTENT, block, 1),
    ONCE(EXTENT, cluster, 0),
    ONCE(UNSIGNED, registers, 0),
    ONCE(UNSIGNED, shared_static, 0),
    ONCE(UNSIGNED, shared_dynamic, 0),
    ONCE(UNSIGNED, local_bytes, 0),
    ONCE(UNSIGNED, max_threads_per_block, 0),
    ONCE(UNSIGNED, max_shared_dynamic, 0),
    ONCE(INT, shared_carveout, 0),
    ONCE(INT, no_half_arithmetic, 0),
    LAUNCH(UNSIGNED, passes, 0),
    LAUNCH(U64, saved_bytes, 0),
    LAUNCH(U64, restored_bytes, 0),
    LAUNCH(INT, recalled, 0),
    LAUNCH(INT, diagnosed, 0),
    LAUNCH(INT, graph, 0),
    LAUNCH(DOUBLE, overhead_ms, 0),
    LAUNCH(DOUBLE, start_ms, 0),
    LAUNCH(DOUBLE, doubt_ms, 0),
    LAUNCH(REASON, skipped, 0),
};
const size_t gp_launch_field_count = sizeof(gp_launch_fields) / sizeof(gp_launch_fields[0]);

const struct gp_field gp_count_fields[] = {
    COUNT(STRING, kernel, 1), COUNT(INT, device, 1),     COUNT(EXTENT, grid, 1),
    COUNT(EXTENT, block, 1),  COUNT(EXTENT, cluster, 0), COUNT(UNSIGNED, shared_dynamic, 0),
    COUNT(U64, launches, 1),  COUNT(REASON, reason, 0),
};
const size_t gp_count_field_count = sizeof(gp_count_fields) / sizeof(gp_count_fields[0]);

const struct gp_field gp_reading_fields[] = {
    COUNT(U64, first_reading, 0),
    COUNT(U64, last_reading, 0),
    COUNT(U64, behind_reading, 0),
};
const size_t gp_reading_field_count = sizeof(gp_reading_fields) / sizeof(gp_reading_fields[0]);

const struct gp_field gp_sum_fields[] = {
    SUM(STRING, kernel, 1),      SUM(INT, device, 1),        SUM(EXTENT, grid, 1),
    SUM(EXTENT, block, 1),       SUM(EXTENT, cluster, 0),    SUM(UNSIGNED, shared_dynamic, 0),
    SUM(U64, launched, 1),       SUM(U64, left_out, 1),      SUM(U64, measured, 0),
    SUM(U64, hardware, 0),       SUM(U64, instrumented, 0),  SUM(U64, recalled, 0),
    SUM(U64, recalled_all, 0),   SUM(U64, of_graphs, 0),     SUM(U64, replays, 0),
    SUM(DOUBLE, overhead_ms, 0), SUM(U64, timed, 0),         SUM(DOUBLE, time_ns, 0),
    SUM(DOUBLE, shortest_ns, 0), SUM(DOUBLE, longest_ns, 0),
};
const size_t gp_sum_field_count = sizeof(gp_sum_fields) / sizeof(gp_sum_fields[0]);

const struct gp_field gp_whole_fields[] = {
    WHOLE(STRING, kernel, 1),   WHOLE(UNSIGNED, kernels, 1), WHOLE(INT, device, 1),
    WHOLE(U64, launches, 1),    WHOLE(U64, timed, 1),        WHOLE(DOUBLE, seconds, 1),
    WHOLE(DOUBLE, shortest, 0), WHOLE(DOUBLE, longest, 0),
};
const size_t gp_whole_field_count = sizeof(gp_whole_fields) / sizeof(gp_whole_fields[0]);

const struct gp_field gp_succession_fields[] = {
    SUCCESSION(STRING, kernel, 1),
    SUCCESSION(INT, device, 1),
    SUCCESSION(EXTENT, grid, 1),
    SUCCESSION(EXTENT, block, 1),
    SUCCESSION(EXTENT, cluster, 0),
    SUCCESSION(UNSIGNED, shared_dynamic, 0),
    SUCCESSION(STRING, before, 1),
    BEFORE(EXTENT, "before_grid", grid),
    BEFORE(EXTENT, "before_block", block),
    BEFORE(EXTENT, "before_cluster", cluster),
    BEFORE(UNSIGNED, "before_shared_dynamic", shared_dynamic),
    SUCCESSION(U64, launches, 1),
    SUCCESSION(U64, needing, 0),
    SUCCESSION(U64, passed_bytes, 0),
    SUCCESSION(U64, replaced_bytes, 0),
    SUCCESSION(U64, shared_bytes, 0),
};
const size_t gp_succession_field_count =
    sizeof(gp_succession_fields) / sizeof(gp_succession_fields[0]);

const struct gp_field gp_end_fields[] = {END(DOUBLE, added_seconds, 1), END(DOUBLE, seconds, 0)};
const size_t gp_end_field_count = sizeof(gp_end_fields) / sizeof(gp_end_fields[0]);

const struct gp_field gp_window_fields[] = {
    END(U64, outside_launches, 1),
    END(DOUBLE, window_seconds, 1),
    END(DOUBLE, window_added_seconds, 1),
};
const size_t gp_window_field_count = sizeof(gp_window_fields) / sizeof(gp_window_fields[0]);

const struct gp_field gp_limit_fields[] = {
    END(DOUBLE, limit_seconds, 1), END(DOUBLE, limit_spent, 1),    END(DOUBLE, start_up_seconds, 1),
    END(DOUBLE, limit_wanted, 0),  END(DOUBLE, report_seconds, 0),
};
const size_t gp_limit_field_count = sizeof(gp_limit_fields) / sizeof(gp_limit_fields[0]);

#define HOST_FIELD(kind, name, member)                          \
    {                                                           \
        name, GP_FIELD_##kind, offsetof(struct gp_end, member), \
            sizeof(((struct gp_end *)0)->member), 1, 0          \
    }
#define HOST(name, index)                                                  \
    HOST_FIELD(U64, "host_" name, host[index].calls),                      \
        HOST_FIELD(U64, "host_" name "_timed", host[index].timed),         \
        HOST_FIELD(DOUBLE, "host_" name "_seconds", host[index].seconds),  \
        HOST_FIELD(U64, "host_" name "_disturbed", host[index].disturbed), \
        HOST_FIELD(DOUBLE, "host_" name "_disturbed_seconds", host[index].disturbed_seconds)
const struct gp_field gp_host_fields[] = {
    END(U64, host_launches, 1),
    HOST("copies", GP_HOST_COPY),
    HOST_FIELD(U64, "host_copies_bytes", host[GP_HOST_COPY].bytes),
    HOST("waits", GP_HOST_WAIT),
    HOST("allocations", GP_HOST_ALLOCATION),
    HOST("frees", GP_HOST_FREE),
};
const size_t gp_host_field_count = sizeof(gp_host_fields) / sizeof(gp_host_fields[0]);

bool gp_is_column(const struct gp_field *f)
{
    return !f->once && f->kind != GP_FIELD_STRING && f->kind != GP_FIELD_TEXT &&
           f->kind != GP_FIELD_EXTENT && f->kind != GP_FIELD_REASON;
}
