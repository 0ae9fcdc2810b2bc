/* The facts of a device, the record of a launch with its counters, the number of launches of a
 * kernel: every room below CUDA uses these structs.
 *
 * A struct gp_record travels from launch/ to profile/; metrics/ and report/ read it, either in the
 * profiled process or years later out of a profile file. */
#ifndef GPUPROF_PROFILE_RECORD_H
#define GPUPROF_PROFILE_RECORD_H

#include "base/cause.h"
#include "base/configuration.h"

#include <stddef.h>
#include <stdint.h>

#define GP_MAX_DEVICES 64

/* Facts of one device, as the driver's attributes give them (CU_DEVICE_ATTRIBUTE_* of the same
 * name). Sizes in bytes, clocks in kHz. A fact the driver did not give is 0. */
struct gp_device {
    int ordinal; /* as the program counts devices */
    char name[128];
    char chip[32]; /* CUPTI's chip name, "GH100"; empty when CUPTI did not say */
    int cc_major, cc_minor;
    int sm_count;
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    int sp_dp_ratio; /* single to double precision throughput */
    int warp_size;
    int max_threads_per_sm;
    int max_blocks_per_sm;
    int max_threads_per_block;
    int registers_per_sm;
    int registers_per_block;
    int l2_bytes;
    size_t shared_per_sm;
    size_t shared_per_block;
    size_t shared_per_block_optin;
    size_t reserved_shared_per_block;
    size_t total_memory;
    int driver_version;     /* 13000 for CUDA 13.0 */
    uint32_t cupti_version; /* 0 when CUPTI was not found */
    int event_counters;     /* 1: counters are those of CUPTI's event groups, not of ranges */
    int simulated;          /* 1: these are not a real GPU's numbers */
};

/* One raw counter of one launch. `absent` says why there is no value; of one that has a value it is
 * no reason. */
struct gp_counter {
    const char *name; /* "dram__bytes_read.sum" */
    double value;
    struct gp_reason absent;
};

/* Counters of a launch that are those of another one, which was alike. */
enum gp_recalled {
    GP_RECALLED_NONE,
    GP_RECALLED_INSTRUMENTED, /* those of instrumented code */
    GP_RECALLED_ALL           /* those of the hardware, too; its time is its own */
};

/* The record of one kernel launch. Strings belong to the code that filled the struct in. */
struct gp_record {
    uint64_t index;     /* 0 is the first launch the process made, measured or not */
    const char *kernel; /* the symbol, mangled as the module has it */
    int device;         /* ordinal */
    uint64_t context, stream;
    GP_CONFIGURATION;
    unsigned registers;             /* per thread */
    unsigned shared_static;         /* bytes per block */
    unsigned local_bytes;           /* per thread */
    unsigned max_threads_per_block; /* of this kernel */
    unsigned max_shared_dynamic;    /* bytes, as the kernel's attribute was set */
    int shared_carveout;            /* percent, -1: the driver's choice */
    int no_half_arithmetic;         /* 1: its machine code has none (code/halves.h); 0: it may */
    unsigned passes;                /* times the kernel ran; 1: not replayed */
    uint64_t saved_bytes, restored_bytes; /* copied before the launch, written back after */
    int recalled;                         /* enum gp_recalled */
    int diagnosed;      /* 1: it has counters of the diagnosis, which few launches have */
    int graph;          /* 1: a kernel of a CUDA graph, which the program launched as a whole */
    double overhead_ms; /* host time that measuring added at this launch */
    double doubt_ms;    /* its time may be too long by so much; 0: it is not in doubt */
    double start_ms;    /* when the program launched it, by the host's clock; 0: not known */
    struct gp_reason skipped; /* why nothing, or not all, was measured */
    size_t counter_count;
    const struct gp_counter *counters;
};

/* How often a process launched one kernel in one configuration, measured or not; or how many of
 * these launches were passed over for a reason: they were not measured, and have no record. */
struct gp_count {
    const char *kernel; /* mangled */
    int device;
    GP_CONFIGURATION;
    uint64_t launches;
    struct gp_reason reason; /* none: all launches */
    /* Readings that the program had made at the first and at the last of all launches, and the
     * launches since that number was reached. In a reading it asks for the time between two events,
     * and has launched something since the one before. */
    uint64_t first_reading, last_reading, behind_reading;
};

/* Launches of one kernel in one configuration that have no line of their own in the profile.
 * Several of them add up. */
struct gp_sum {
    const char *kernel; /* mangled */
    int device;
    GP_CONFIGURATION;
    uint64_t launched; /* that the process made since the sum before it, with a line or not */
    uint64_t left_out; /* of these, launches that were recorded and have no line; of them: */
    uint64_t measured, hardware, instrumented, recalled, recalled_all, of_graphs; /* as gp_kinds */
    uint64_t replays;
    double overhead_ms;
    uint64_t timed;                          /* launches whose time is known */
    double time_ns, shortest_ns, longest_ns; /* of those: all together, one of them */
};

/* The launches of one graph that were timed as a whole. */
struct gp_whole_times {
    const char *kernel; /* its first one, mangled; empty: it has none but those of its bodies */
    unsigned kernels;   /* but for those in the bodies of conditional nodes */
    int device;
    uint64_t launches, timed;          /* how many, and of how many the time is known */
    double seconds, shortest, longest; /* of those */
};

/* Launches of a kernel in one configuration that came right behind one of another, or the same, in
 * their stream, with nothing between. Bytes are those of arrays, summed over the launches: an array
 * ends where its allocation does at the latest, so it may have fewer. */
struct gp_succession {
    const char *kernel; /* mangled */
    int device;
    GP_CONFIGURATION;
    const char *before; /* mangled; empty: something else came before, or it is not known */
    struct gp_configuration configuration_before;
    uint64_t launches;
    uint64_t needing; /* of these, such that read a much smaller result of the one before, too */
    uint64_t passed_bytes;   /* that the one before wrote and this one read */
    uint64_t replaced_bytes; /* of these, of arrays that this one wrote, too */
    uint64_t shared_bytes;   /* that both read, and the one before did not write */
};

/* Copies and fills of a process, by direction. */
enum gp_copy_kind {
    GP_HOST_TO_DEVICE,
    GP_DEVICE_TO_HOST,
    GP_DEVICE_TO_DEVICE,
    GP_PEER_TO_PEER,
    GP_HOST_TO_HOST,
    GP_COPY_BY_ADDRESS, /* the driver finds the direction by the addresses */
    GP_FILL,
    GP_COPY_KINDS
};
struct gp_copies {
    uint64_t calls, bytes;
    uint64_t timed, timed_bytes;       /* of those, calls whose time is known */
    double seconds, shortest, longest; /* of those */
};

/* Driver calls that take the time of the program's host, between its launches. */
enum gp_host_kind {
    GP_HOST_COPY,       /* a copy from or to the host that the host waits for */
    GP_HOST_WAIT,       /* for a context, a stream or an event */
    GP_HOST_ALLOCATION, /* of memory of the device or page-locked memory; not from a pool */
    GP_HOST_FREE,       /* of the same */
    GP_HOST_KINDS
};
struct gp_host_calls {
    uint64_t calls, bytes; /* bytes: of copies */
    uint64_t timed;        /* of those, calls whose time in the driver is as without gpuprof */
    uint64_t disturbed;    /* of those, calls in which work of gpuprof's may have gone on, or for
                            * whose kernels it had waited before; gpuprof answered the others */
    double seconds;        /* of those that were timed */
    double disturbed_seconds;
};

/* Known when a process ends. added_seconds: wall time by which measuring made it longer, at
 * launches and between them. seconds: since gpuprof was loaded, these included; 0: not known. */
struct gp_end {
    double added_seconds, seconds;
    /* Members of a process of which a part was to be measured (gp_settings.window), else 0. */
    int has_window;            /* 1: the others are known */
    uint64_t outside_launches; /* that lay outside the window: they were counted, and no more */
    double window_seconds, window_added_seconds; /* as above, while it was open */
    /* Members of a process in which a limit to the added time held, else 0. */
    int has_limit;        /* 1: the others are known */
    double limit_seconds; /* that it permitted */
    double limit_spent;   /* that count for it: no start-up, but an upper bound of lost overlap */
    double start_up_seconds; /* of added_seconds */
    double limit_wanted;   /* beside limit_spent, to measure each kernel and configuration once that
                            * was not, as predicted */
    double report_seconds; /* of added_seconds, to report at the end; not of limit_spent */
    /* Calls of the program behind its first launch, in the window; else 0. */
    int has_host;           /* 1: they were counted */
    uint64_t host_launches; /* calls that launch one kernel; none of a graph */
    struct gp_host_calls host[GP_HOST_KINDS];
};

/* How a process was measured, as far as a reader of its counters must know. */
struct gp_settings {
    const char *sample;   /* which launches were measured, as GPUPROF_SAMPLE has it; NULL: all */
    int replay_off;       /* 1: no launch was replayed, so each has only a part of its counters */
    const char *window;   /* the part of the program, as GPUPROF_WINDOW has it; NULL: all of it */
    const char *overhead; /* the limit to the added time, as GPUPROF_OVERHEAD has it; NULL: it was
                           * not given */
};

/* The kernel's duration in nanoseconds. A range that we push and pop includes some microseconds of
 * that; a time of the kernel alone is better. */
#define GP_DURATION_COUNTER "gpu__time_duration.sum"

/* In the name of a counter: instrumented code counts it, not the hardware. */
#define GP_INSTRUMENTED "__sass_"

#endif
