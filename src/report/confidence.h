/* How sure a mean is. */
#ifndef GPUPROF_REPORT_CONFIDENCE_H
#define GPUPROF_REPORT_CONFIDENCE_H

/* Student's factor for 95 %, by degrees of freedom, 1 at least: half of the confidence interval of
 * a mean is so many times its standard deviation. */
double gp_confidence_factor(double freedom);

#endif
