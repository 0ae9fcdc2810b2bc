#include "base/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES 8192

/* <linux/capability.h>, by their numbers. */
#define SYS_ADMIN 21
#define PERFMON 38

#define DRIVER_OPTION "NVreg_RestrictProfilingToAdminUsers=0"

static bool exists(const char *root, const char *path)
{
    char whole[4096];
    return snprintf(whole, sizeof(whole), "%s%s", root, path) < (int)sizeof(whole) &&
           access(whole, F_OK) == 0;
}

/* The file's beginning as a text; empty where it cannot be read. */
static void read_text(const char *root, const char *path, char text[MOST_BYTES])
{
    char whole[4096];
    size_t length = 0;
    int fd = -1;
    if (snprintf(whole, sizeof(whole), "%s%s", root, path) < (int)sizeof(whole))
        fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd >= 0 && length < MOST_BYTES - 1) {
        ssize_t n = read(fd, text + length, MOST_BYTES - 1 - length);
        if (n > 0)
            length += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
}

static bool is_set(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value;
}

static const char *find_service(void)
{
    static const struct {
        const char *variable, *service;
    } marks[] = {
        {"COLAB_RELEASE_TAG", "Google Colab"},
        {"KAGGLE_KERNEL_RUN_TYPE", "Kaggle"},
        {"RUNPOD_POD_ID", "RunPod"},
        {"VAST_CONTAINERLABEL", "Vast.ai"},
        {"PAPERSPACE_NOTEBOOK_REPO_ID", "Paperspace"},
        {"LIGHTNING_CLOUD_PROJECT_ID", "Lightning"},
        {"MODAL_TASK_ID", "Modal"},
    };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (is_set(marks[i].variable))
            return marks[i].service;
    return NULL;
}

static enum gp_container find_container(const char *root)
{
    char text[MOST_BYTES];
    if (is_set("KUBERNETES_SERVICE_HOST") ||
        exists(root, "/var/run/secrets/kubernetes.io/serviceaccount"))
        return GP_KUBERNETES;
    if (is_set("APPTAINER_CONTAINER") || is_set("SINGULARITY_CONTAINER") ||
        exists(root, "/.singularity.d"))
        return GP_APPTAINER;
    if (exists(root, "/run/.containerenv"))
        return GP_PODMAN;
    if (exists(root, "/.dockerenv"))
        return GP_DOCKER;
    /* Control groups of the first version show names; those of the second show none from inside. */
    read_text(root, "/proc/self/cgroup", text);
    if (strstr(text, "kubepods"))
        return GP_KUBERNETES;
    if (strstr(text, "/docker"))
        return GP_DOCKER;
    return is_set("container") || strstr(text, "/lxc") || strstr(text, "containerd")
               ? GP_SOME_CONTAINER
               : GP_NO_CONTAINER;
}

/* The set of capabilities in that line of /proc/self/status. */
static unsigned long long capabilities(const char *status, const char *line)
{
    const char *found = strstr(status, line);
    return found ? strtoull(found + strlen(line), NULL, 16) : 0;
}

static bool has(unsigned long long set, unsigned capability)
{
    return set >> capability & 1;
}

static void find_rights(struct gp_surroundings *s, const char *root)
{
    char text[MOST_BYTES];
    unsigned long inside = 0, outside = 0, count = 0;
    read_text(root, "/proc/self/status", text);
    unsigned long long effective = capabilities(text, "CapEff:");
    s->has_right = has(effective, SYS_ADMIN) || has(effective, PERFMON);
    s->may_have_right = has(capabilities(text, "CapBnd:"), SYS_ADMIN);
    s->is_root = geteuid() == 0;
    read_text(root, "/proc/self/uid_map", text);
    s->mapped = sscanf(text, "%lu %lu %lu", &inside, &outside, &count) == 3 && outside != inside;
}

void gp_surroundings_find(struct gp_surroundings *s, const char *root)
{
    const int saved_errno = errno;
    char text[MOST_BYTES];
    *s = (struct gp_surroundings){.container = find_container(root), .rented = find_service()};
    find_rights(s, root);
    read_text(root, "/proc/sys/kernel/osrelease", text);
    s->wsl = strstr(text, "icrosoft") != NULL;
    errno = saved_errno;
}

/* The container lacks the right. */
static const char *remedy_in_container(const struct gp_surroundings *s)
{
    switch (s->container) {
    case GP_KUBERNETES:
        return "its container needs securityContext.capabilities.add: [\"SYS_ADMIN\"] in the pod, "
               "or "
               "its node's driver the option " DRIVER_OPTION;
    case GP_DOCKER:
        return "start the container with --cap-add=SYS_ADMIN, or load the host's driver "
               "with " DRIVER_OPTION;
    case GP_PODMAN:
        return "start the container as root with --cap-add=SYS_ADMIN, or load the host's driver "
               "with " DRIVER_OPTION;
    case GP_APPTAINER:
        return "root can start the container with --add-caps CAP_SYS_ADMIN; for other users the "
               "host's driver needs the option " DRIVER_OPTION;
    default:
        return "the container needs the capability SYS_ADMIN, or the host's driver the "
               "option " DRIVER_OPTION;
    }
}

static const char *remedy(const struct gp_surroundings *s)
{
    if (s->wsl)
        return "allow it to all users in Windows: NVIDIA Control Panel, Developer, Manage GPU "
               "Performance Counters";
    if (s->container != GP_NO_CONTAINER && s->mapped)
        return "root of this container is another user on the host (rootless): the host's driver "
               "needs the option " DRIVER_OPTION;
    if (s->container != GP_NO_CONTAINER && s->may_have_right && !s->is_root)
        return "the container may, this user may not: run as root in it, or load the host's driver "
               "with " DRIVER_OPTION;
    if (s->container != GP_NO_CONTAINER && !s->has_right)
        return remedy_in_container(s);
    if (s->mapped)
        return "root of this user namespace is another user outside: run outside of it, or load "
               "the "
               "driver with " DRIVER_OPTION;
    if (s->has_right)
        return "the driver refuses it although this process has CAP_SYS_ADMIN or CAP_PERFMON: a "
               "hypervisor or the machine's owner forbids it (CAP_PERFMON alone needs driver 565)";
    if (s->is_root)
        return "root lacks CAP_SYS_ADMIN here; give it that, or load the driver "
               "with " DRIVER_OPTION;
    return "run as root, or load the driver with " DRIVER_OPTION;
}

void gp_surroundings_remedy(const struct gp_surroundings *s, char *text, size_t size)
{
    if (s->rented)
        snprintf(text, size, "%s decides on that: %s", s->rented, remedy(s));
    else
        snprintf(text, size, "%s", remedy(s));
}
