#include "model/clock.h"

__thread double gpusim_work_ms;
