#include "report/confidence.h"

#include <stddef.h>

double gp_confidence_factor(double freedom)
{
    static const double first[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};
    const size_t known = sizeof(first) / sizeof(first[0]);
    return freedom <= (double)known ? first[(size_t)freedom - 1] : 1.96 + 2.68 / freedom;
}
