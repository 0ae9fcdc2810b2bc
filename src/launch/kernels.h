/* Each function that is launched: its name, whether the user wants it. Owns the table. From any
 * thread; the parts of a kernel with the gate locked. */
#ifndef GPUPROF_LAUNCH_KERNELS_H
#define GPUPROF_LAUNCH_KERNELS_H

#include "base/hash.h"
#include "base/text.h"
#include "counters/collector.h"
#include "cuda/driver.h"
#include "launch/launch.h"
#include "launch/parameters.h"
#include "launch/times.h"
#include "launch/verify_schedule.h"
#include "profile/record.h"

#include <stdatomic.h>

/* An answer that is searched for once. */
enum gp_maybe { GP_NOT_ASKED, GP_NEVER, GP_MAYBE };

struct gp_kernel {
    CUfunction handle;   /* as the program launches it: the key */
    CUfunction function; /* the same as a function, where the handle is a CUkernel */
    CUcontext loaded_in; /* the last context in which its code was loaded */
    char *name;          /* mangled */
    char *shown;         /* for people; NULL until asked for */
    bool selected;
    const void *module;         /* its module or library, NULL where the driver does not tell */
    struct gp_reason runs_once; /* why (it prints, say); none: it may run more often */
    bool ended;                 /* by itself; one that cannot be replayed is measured only then */
    bool collected;        /* it ran in a pass of a collection: CUPTI may have patched its code */
    bool timed;            /* in a run that was not its first */
    unsigned host_changes; /* launches in a row in which host memory changed */
    struct gp_times times;
    double longest;     /* seconds that a launch took which has ended, as the host saw it */
    double shortest_ms; /* that it took on the GPU; 0: not known */
    /* It is not measured, and why. Asked at every launch, said while the gate is locked. */
    atomic_bool is_refused;
    struct gp_reason refused;
    atomic_bool waits_for_host; /* single warps of it, by all that is known: launch/polls.h */
    bool unending; /* that is why: it did not end by itself, and is not waited for either */
    /* Whether it reaches memory that its parameters do not lead to but other memory does. */
    enum { GP_REACH_UNKNOWN, GP_REACH_DIRECT, GP_REACH_FURTHER } reach;
    enum gp_maybe launches_graphs, uses_textures, waits, polls, spins, loads_addresses;
    bool data_words_known;
    uint64_t data_words;      /* code/data_words.h */
    struct gp_pass_cost cost; /* learned by the collector */
    bool announced;           /* that instrumented code may take long */
    uint64_t code;            /* the collector's number for it */
    struct gp_parameter_layout layout;
    struct gp_verify_schedule schedule; /* how far its reach can be relied upon */
    UT_hash_handle hh;
};

/* Whether a launch of the function is to be measured: the user has selected it, and nothing is
 * known that speaks against it: that the kernel was seen not to end by itself (unending), say. From
 * any thread. */
enum gp_interest { GP_NOT_SELECTED, GP_REFUSED, GP_UNENDING, GP_WANTED };
enum gp_interest gp_kernel_interest(CUfunction function,
                                    const struct gp_configuration *configuration);
/* Why launches are passed over of a kernel that is selected and not wanted. */
enum gp_passed_over gp_kernel_why_not(enum gp_interest interest);

/* True where the calling thread has learned before that the user has not selected the function: no
 * more is to be asked. Takes no lock. */
bool kernel_is_left_out(CUfunction function);

/* True where a launch of the function was not waited for, as it may read the host's memory in a
 * loop. */
bool kernel_polls(CUfunction function);

/* The function behind a handle that is being launched; NULL when out of memory. Valid while the
 * gate is locked: modules are unloaded, and their functions forgotten, only while it is open. */
struct gp_kernel *gp_kernel_find(CUfunction function);
/* True where the handle, of a function or of a kernel, is one of its. */
bool kernel_is(const struct gp_kernel *kernel, CUfunction handle);

/* Its name in messages. */
const char *kernel_shown(struct gp_kernel *kernel);
/* Adds the mangled name of the function behind a handle that is being launched. */
void gp_kernel_add_name(CUfunction function, struct gp_text *text);

/* It did not end by itself. */
void kernel_refuse(struct gp_kernel *kernel, struct gp_reason why);

/* A launch of it reached memory to which only other memory led, or did not. Once is enough. */
void kernel_reached(struct gp_kernel *kernel, bool further);

/* It has ended by itself, after so long. */
void kernel_ended(struct gp_kernel *kernel, double seconds);
/* A run without instrumented code took so long on the GPU. The shortest is in seconds; the longest
 * that the host saw where none is known. */
void kernel_took(struct gp_kernel *kernel, double ms);
double kernel_shortest(const struct gp_kernel *kernel);

/* Has the driver load the kernel's code into the context, the current one: else it does so at the
 * first launch, between the events that time it. */
void kernel_load(struct gp_kernel *kernel, CUcontext context);

/* The program has made a graph that kernels can launch; true from then on. */
void gp_kernels_can_launch_graphs(void);
bool gp_kernels_launch_graphs(void);
/* True when kernels of its module may, as far as is known. From any thread. */
bool gp_kernel_may_launch_graphs(CUfunction function);

/* Writes the parameters of a launch of it, see launch/parameters.h. */
bool gp_kernel_parameters(struct gp_kernel *kernel, const struct gp_launch *call, void *bytes,
                          size_t *size);

/* Says whether page-locked host memory changed while the kernel ran, so that this launch could not
 * be replayed. A kernel of which that is the rule runs once from then on. */
void kernel_host_changed(struct gp_kernel *kernel, bool changed);

/* The machine code of a function of the kernel's module, for the collector: a gp_find_code. */
const void *kernel_find_code(void *kernel, const char *function, size_t *size,
                             struct gp_reason *why);
/* True when it may read memory through textures or surfaces, on a device of compute capability
 * cc / 10: the program has made a texture, and the kernel's code holds such an access, or is not
 * known. */
bool kernel_may_use_textures(struct gp_kernel *kernel, int cc);
/* True when it may wait for the host or for other work, by its code; also where that is not known.
 * Asked only of a kernel that takes long. */
bool gp_kernel_may_wait(struct gp_kernel *kernel, const struct gp_device *device);
/* The words of its parameters that are data only, by its code: a bit for each. */
uint64_t kernel_data_words(struct gp_kernel *kernel, const struct gp_device *device);
/* True when it may read addresses from memory, by its code; also where that is not known. */
bool kernel_may_load_addresses(struct gp_kernel *kernel, const struct gp_device *device);
/* True when its code reads memory in a loop, as one that waits for the host does; false where the
 * code is not known. */
bool kernel_may_poll(struct gp_kernel *kernel, const struct gp_device *device);
/* True when its code reads memory in a loop, as blocks do that wait for each other; false where the
 * code is not known. */
bool kernel_may_spin(struct gp_kernel *kernel, const struct gp_device *device);
/* The cubin for its source lines: a gp_find_cubin. */
void *kernel_find_cubin(void *kernel, size_t most, size_t *size);

/* The facts of a kernel for launches that are only timed (launch/timed.h). */
struct gp_kernel_facts {
    char *name;          /* mangled; to be freed */
    CUfunction function; /* in the current context */
    bool may_wait;       /* by its code */
    bool may_poll;       /* the host's memory, the same */
};
/* Asks for them, once for each kernel and context, as it reads the machine code, and notes that for
 * its source lines. False when out of memory. With the gate entered; no two threads at a time. */
bool kernel_ask_facts(CUfunction handle, const struct gp_device *device,
                      struct gp_kernel_facts *facts);
/* Fills in the driver's facts of a function, but for its name. */
void function_describe(CUfunction function, struct gp_record *launch);
/* Rises when functions are forgotten: then their handles may be others'. */
unsigned long kernels_forgotten(void);

/* Fills in the driver's facts of the function: registers, shared memory, limits. */
void kernel_describe(const struct gp_kernel *kernel, struct gp_record *launch);
/* How much of the L1 it wants to be shared memory, in percent; negative: as the driver likes. */
int kernel_carveout(const struct gp_kernel *kernel);

/* A pass goes on while the program does: any kernel may run in it. */
void kernels_all_collected(void);

/* CUPTI keeps the code of all that ran in a pass so far, or will, as it cannot be made to free it.
 */
void kernels_hold(void);
/* True where that holds for a kernel of the module or library. */
bool gp_kernels_held(const void *module, bool is_library);

/* True where one of them ran in a pass, or one that was forgotten with all and may be of the
 * module. While nothing is measured. */
bool gp_kernels_collected(const void *module, bool is_library);
/* True where kernels of modules that are not known have. */
bool gp_kernels_collected_somewhere(void);

/* Drops the functions of a module or library, and those that may be of it, whose handles are about
 * to be given to others; all of them with NULL. How often they were launched stays known, by their
 * names. */
void gp_kernels_forget(const void *module, bool is_library);

#endif
