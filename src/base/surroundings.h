/* The surroundings of the process, as far as the right to read a GPU's counters depends on them: a
 * container, a user without rights, a virtual machine. And the remedy there. */
#ifndef GPUPROF_BASE_SURROUNDINGS_H
#define GPUPROF_BASE_SURROUNDINGS_H

#include <stdbool.h>
#include <stddef.h>

enum gp_container {
    GP_NO_CONTAINER,
    GP_KUBERNETES,
    GP_DOCKER,
    GP_PODMAN,
    GP_APPTAINER, /* and Singularity */
    GP_SOME_CONTAINER,
};

struct gp_surroundings {
    enum gp_container container;
    const char *rented; /* the service whose machine it is, as far as its variables say; or NULL */
    bool wsl;           /* Windows Subsystem for Linux */
    bool is_root;
    bool has_right;      /* CAP_SYS_ADMIN, or CAP_PERFMON, in effect */
    bool may_have_right; /* CAP_SYS_ADMIN is in the bounding set: root would have it */
    bool mapped;         /* users are mapped: root is another user on the host */
};

/* Reads them, below the folder `root` ("" is the machine's own), and of the environment. Safe in
 * another program's process; leaves errno as it was. */
void gp_surroundings_find(struct gp_surroundings *found, const char *root);

/* The way for a process in such surroundings to get the right to read the counters, as half a
 * sentence. */
void gp_surroundings_remedy(const struct gp_surroundings *s, char *text, size_t size);

#endif
