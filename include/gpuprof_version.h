/* The version of gpuprof, printed by `gpuprof --version` and written into every profile. */
#ifndef GPUPROF_VERSION_H
#define GPUPROF_VERSION_H

#define GP_VERSION "0.1.0"

#endif
