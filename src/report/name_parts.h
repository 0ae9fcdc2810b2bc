/* The pieces of a demangled C++ name, as src/report/names.c compares them. */
#ifndef GPUPROF_REPORT_NAME_PARTS_H
#define GPUPROF_REPORT_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#define GP_NAME_MOST_ARGUMENTS 32

/* A piece of text; it belongs to a longer name. */
struct gp_span {
    const char *begin, *end;
};

/* "space::head<argument, ...>rest". Of a lambda or another local thing,
 * "space::f<int>(float)::{lambda(int)#1}", the head is the function around it: "f". */
struct gp_name_part {
    struct gp_span all, head, rest;
    struct gp_span arguments[GP_NAME_MOST_ARGUMENTS];
    size_t argument_count;
};

bool gp_span_same(struct gp_span a, struct gp_span b);

void gp_name_take_apart(struct gp_name_part *part, struct gp_span name);

/* The operation that a name wraps: "MulFunctor<float>" of "BinaryFunctor<float, float, float,
 * MulFunctor<float>>". The name itself where no argument, or more than one, can be an operation. */
struct gp_span gp_name_operation(struct gp_span name);

/* How much a template argument says: 2 a class with arguments or a function, 1 another name, 0 a
 * number or data. */
int gp_name_weight(struct gp_span argument);

#endif
