/* base/host_memory: the free memory of the host, as control groups limit it. */
#include "base/host_memory.h"

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

#define MB ((uint64_t)1 << 20)

static char root[] = "/tmp/gpuprof-test-groups-XXXXXX";

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

/* Makes the folders on the way as well. */
static const char *put(const char *name, const char *text)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0777);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static uint64_t free_with(const char *groups)
{
    return gp_host_free_in_groups(8192 * MB, put("self", groups), root);
}

static void the_limit_of_a_group_holds(void **state)
{
    (void)state;
    put("a/b/memory.max", "1073741824\n");
    put("a/b/memory.current", "536870912\n");
    assert_int_equal(free_with("0::/a/b\n"), 512 * MB);
    /* Memory that is only kept as long as there is room is free. */
    put("a/b/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 5\n");
    assert_int_equal(free_with("0::/a/b\n"), 612 * MB);
    /* The limit of a group above holds as well. */
    put("a/memory.max", "1073741824\n");
    put("a/memory.current", "1063256064\n");
    assert_int_equal(free_with("0::/a/b\n"), 10 * MB);
    put("a/memory.current", "2000000000\n");
    assert_int_equal(free_with("0::/a/b\n"), 0);
}

static void without_a_limit_all_is_free(void **state)
{
    (void)state;
    put("none/memory.max", "max\n");
    put("none/memory.current", "536870912\n");
    assert_int_equal(free_with("0::/none\n"), 8192 * MB);
    assert_int_equal(free_with("0::/nowhere\n"), 8192 * MB);
    assert_int_equal(free_with("nonsense\n0:\n:::\n\n7:cpu:/none\n"), 8192 * MB);
    assert_int_equal(gp_host_free_in_groups(5, "/nonexistent", root), 5);
}

static void so_does_one_of_version_1(void **state)
{
    (void)state;
    put("memory/c/memory.limit_in_bytes", "1073741824\n");
    put("memory/c/memory.usage_in_bytes", "1000000000\n");
    put("memory/c/memory.stat", "inactive_file 7\ntotal_inactive_file 26258176\n");
    assert_int_equal(free_with("9:cpu,cpuacct:/x\n5:hugetlb,memory:/c\n1:name=systemd:/\n"),
                     1073741824 - 1000000000 + 26258176);
    assert_int_equal(free_with("9:cpu,memory_not:/c\n"), 8192 * MB);
    /* No limit is a large number. */
    put("memory/c/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(free_with("5:memory:/c\n"), 8192 * MB);
}

static void in_a_container_the_root_is_its_own_group(void **state)
{
    (void)state;
    put("memory.max", "1048576\n");
    put("memory.current", "0\n");
    assert_int_equal(free_with("0::/docker/0123\n"), MB);
    assert_int_equal(free_with("0::/\n"), MB);
}

static void this_machine_has_some(void **state)
{
    (void)state;
    assert_true(gp_host_free() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_of_a_group_holds),
        cmocka_unit_test(without_a_limit_all_is_free),
        cmocka_unit_test(so_does_one_of_version_1),
        cmocka_unit_test(in_a_container_the_root_is_its_own_group),
        cmocka_unit_test(this_machine_has_some),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
