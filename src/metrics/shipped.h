/* The definition files of metrics/, as the build puts them into the program: one text, each file
 * under a line "; file metrics/NAME.ini". Owned by the build. */
#ifndef GPUPROF_METRICS_SHIPPED_H
#define GPUPROF_METRICS_SHIPPED_H

extern const char gp_shipped_definitions[];
extern const char gp_shipped_definitions_end[];

#endif
