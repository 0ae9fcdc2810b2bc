/* The files of libcupti that come with the program's CUDA, or with gpuprof itself. Takes no lock of
 * ours. */
#ifndef GPUPROF_CUDA_CUPTI_SEARCH_H
#define GPUPROF_CUDA_CUPTI_SEARCH_H

#include "base/text.h"

/* Adds the paths of those that are there, each with a NUL behind it, the best first: beside the
 * runtime and the libraries of CUDA that the program has loaded, of their version; then those of
 * NVIDIA's Python wheels, where modules of the program are installed and where gpuprof is, of CUDA
 * 13 before 12. `driver` is the newest CUDA that the driver serves, 13000 for 13.0; 0: not known.
 */
void gp_cupti_search(int driver, struct gp_text *paths);

/* Adds those that a profiler opens which the program has loaded, and which brings a copy of its
 * own: Triton's Proton. The driver serves one copy in a process, so both have to use that. */
void gp_cupti_search_of_tools(struct gp_text *paths);

#endif
