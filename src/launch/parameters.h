/* The parameters of a launch as the device sees them: one block of bytes. */
#ifndef GPUPROF_LAUNCH_PARAMETERS_H
#define GPUPROF_LAUNCH_PARAMETERS_H

#include "launch/launch.h"

#include <stddef.h>
#include <stdint.h>

/* The most parameters that CUDA allows a kernel, in bytes. */
#define GP_MOST_PARAMETER_BYTES 32764u

/* Where each parameter of a kernel lies in the block. Zeroed, it is not asked for yet. */
struct gp_parameter_layout {
    bool asked, known;
    struct gp_parameter {
        uint32_t offset, size; /* bytes */
    } * list;
    size_t count;
};

/* Asks the driver for the layout of a kernel, once; it stays unknown where the driver cannot answer
 * (before CUDA 12.4). `handle` is the program's, `function` the same as a function. */
void parameter_layout_ask(struct gp_parameter_layout *layout, CUfunction handle,
                          CUfunction function);
void parameter_layout_free(struct gp_parameter_layout *layout);

/* Writes a launch's parameters to `bytes`, which has room for GP_MOST_PARAMETER_BYTES; *size
 * becomes how many they are. False where they are not known. */
bool parameters_read(const struct gp_launch *call, const struct gp_parameter_layout *layout,
                     void *bytes, size_t *size);

/* How a block of parameters is handed to a launch: pairs of a name and a value, and the end. All
 * three live as long as the launch. */
#define GP_EXTRA_WORDS 5
void gp_parameters_as_block(void *extra[GP_EXTRA_WORDS], void *bytes, size_t *size);

/* A hash of the parameters on which a launch's work depends: of numbers but for those that are data
 * only (a bit for each word of four bytes, code/data_words.h), of the alignment of addresses, and
 * of which of these lead to the same data; is_address says which they are. */
typedef bool gp_is_address(const void *data, uint64_t value);
uint64_t parameters_hash_work(const void *bytes, size_t size, gp_is_address *is_address,
                              const void *data, uint64_t data_words);

#endif
