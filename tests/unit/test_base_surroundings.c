/* base/surroundings: machines that are played by a folder and the environment. */
#include "base/surroundings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ADMIN "CapEff:\t0000000000200000\nCapBnd:\t000001ffffffffff\n"
#define DOCKER "CapEff:\t00000000a80425fb\nCapBnd:\t00000000a80425fb\n"
#define PERFMON_ALONE "CapEff:\t0000004000000000\nCapBnd:\t0000004000000000\n"
#define USER "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n"
#define SAME_USERS "         0          0 4294967295\n"

static char root[64];

static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* A machine without a container, whose process has these capabilities. */
static void machine(const char *status)
{
    static const char *const variables[] = {"KUBERNETES_SERVICE_HOST",
                                            "APPTAINER_CONTAINER",
                                            "SINGULARITY_CONTAINER",
                                            "container",
                                            "COLAB_RELEASE_TAG",
                                            "KAGGLE_KERNEL_RUN_TYPE",
                                            "RUNPOD_POD_ID",
                                            "VAST_CONTAINERLABEL",
                                            "MODAL_TASK_ID",
                                            "LIGHTNING_CLOUD_PROJECT_ID",
                                            "PAPERSPACE_NOTEBOOK_REPO_ID"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    char command[256];
    snprintf(root, sizeof(root), "/tmp/gpuprof-surroundings-%d", (int)getpid());
    snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", root, root);
    assert_int_equal(system(command), 0);
    put("/proc/self/status", status);
    put("/proc/self/uid_map", SAME_USERS);
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
}

static char text[512];

static const char *remedy(void)
{
    struct gp_surroundings s;
    errno = 17;
    gp_surroundings_find(&s, root);
    assert_int_equal(errno, 17);
    gp_surroundings_remedy(&s, text, sizeof(text));
    return text;
}

static void says(const char *part)
{
    if (!strstr(remedy(), part))
        fail_msg("not \"%s\": %s", part, text);
}

static void does_not_say(const char *part)
{
    if (strstr(remedy(), part))
        fail_msg("\"%s\": %s", part, text);
}

static void each_kind_of_container_has_its_remedy(void **state)
{
    (void)state;
    machine(DOCKER);
    put("/.dockerenv", "");
    says("start the container with --cap-add=SYS_ADMIN");
    put("/run/.containerenv", "engine=\"podman\"\n");
    says("start the container as root with --cap-add=SYS_ADMIN");
    setenv("APPTAINER_CONTAINER", "/image.sif", 1);
    says("--add-caps CAP_SYS_ADMIN");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    says("securityContext.capabilities.add: [\"SYS_ADMIN\"]");
    machine(DOCKER);
    put("/proc/self/cgroup", "12:pids:/kubepods/besteffort/pod1/c1\n");
    says("securityContext.capabilities.add");
    put("/proc/self/cgroup", "12:pids:/docker/0123\n");
    says("--cap-add=SYS_ADMIN");
    put("/proc/self/cgroup", "12:pids:/lxc/0123\n");
    says("the container needs the capability SYS_ADMIN");
    does_not_say("run as root");
}

static void root_is_not_advised_to_be_root(void **state)
{
    (void)state;
    machine(ADMIN);
    does_not_say("run as root");
    says("a hypervisor or the machine's owner forbids it");
    machine(PERFMON_ALONE);
    says("CAP_PERFMON alone needs driver 565");
    machine(USER);
    if (geteuid() == 0)
        says("root lacks CAP_SYS_ADMIN here");
    else
        says("run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0");
    put("/.dockerenv", "");
    if (geteuid() != 0)
        says("run as root in it");
}

static void root_of_a_user_namespace_is_another_user_outside(void **state)
{
    (void)state;
    machine(ADMIN);
    put("/proc/self/uid_map", "         0       1000          1\n");
    says("root of this user namespace is another user outside");
    put("/run/.containerenv", "rootless=1\n");
    says("(rootless): the host's driver needs the option");
    does_not_say("run as root");
}

static void rented_machines_and_windows(void **state)
{
    (void)state;
    machine(DOCKER);
    put("/.dockerenv", "");
    setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive", 1);
    says("Kaggle decides on that: start the container with");
    machine(USER);
    put("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
    says("NVIDIA Control Panel, Developer, Manage GPU Performance Counters");
    does_not_say("SYS_ADMIN");
}

/* Nothing can be read: it is a machine like any other. */
static void nothing_to_be_read_is_no_failure(void **state)
{
    (void)state;
    machine(USER);
    snprintf(root, sizeof(root), "/nowhere");
    assert_true(strlen(remedy()) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_container_has_its_remedy),
        cmocka_unit_test(root_is_not_advised_to_be_root),
        cmocka_unit_test(root_of_a_user_namespace_is_another_user_outside),
        cmocka_unit_test(rented_machines_and_windows),
        cmocka_unit_test(nothing_to_be_read_is_no_failure),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    machine(USER);
    char command[256];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) != 0 || failed;
}
