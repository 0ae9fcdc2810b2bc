/* code/waits and code/textures: the changes of others that a function's instructions show it. */
#include "code/waits.h"

#include "beside.h"
#include "code/instruction.h"
#include "code/module_code.h"
#include "code/ptx.h"
#include "code/textures.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_load(const char *text)
{
    return begins(text, "LD.") || begins(text, "LDG.") || strcmp(text, "LD") == 0 ||
           strcmp(text, "LDG") == 0;
}

/* True where the instruction shows changes that others make, by the disassembler's words. */
static bool shows_changes(const char *text)
{
    static const char *const always[] = {"ATOM.", "ATOMG.", "LDGMC", "SUATOM", "SULD", "CCTL"};
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        if (begins(text, always[i]))
            return true;
    if (begins(text, "MEMBAR"))
        return !strstr(text, ".CTA");
    return is_load(text) && (strstr(text, ".STRONG") || strstr(text, ".MMIO"));
}

/* Part of the text alone says where these go, and one way to write a load is of no program. */
static bool is_left_out(const char *text)
{
    return strstr(text, ".PRIVATE") || strstr(text, "CONSTANT.") || begins(text, "BR") ||
           begins(text, "JM") || begins(text, "CALL");
}

/* Lines "CC LOW HIGH MNEMONIC", as tests/sass/disassemble writes them. */
static void read_lines(const char *name, unsigned least, unsigned least_waiting)
{
    char path[4096], line[512], text[128];
    snprintf(path, sizeof(path), "%.*s/../sass/%s", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__, name);
    FILE *file = fopen(path, "r");
    unsigned count = 0, waiting = 0, wrong = 0;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        int cc;
        uint64_t word[2];
        assert_int_equal(
            sscanf(line, "%d %" SCNx64 " %" SCNx64 " %127s", &cc, &word[0], &word[1], text), 4);
        if (is_left_out(text))
            continue;
        const bool may = gp_code_may_wait(word, sizeof(word), cc);
        count++;
        waiting += may;
        if (may == shows_changes(text))
            continue;
        print_message("%s    is said %sto show changes\n", line, may ? "" : "not ");
        wrong++;
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(count >= least && waiting >= least_waiting);
}

/* The instructions of loops that wait, and of kernels that compute, for 7.5 to 12.0: waits.cu. */
static void loops_that_wait_are_recognised(void **state)
{
    (void)state;
    read_lines("waits.txt", 350, 130);
}

static void every_instruction_is_as_the_disassembler_says(void **state)
{
    (void)state;
    read_lines("corpus.txt", 1000, 20);
    read_lines("corpus-70.txt", 60, 0);
}

/* LDG; FADD; STG; EXIT; BRA to itself: 9.0. */
static const uint64_t computes[][2] = {
    {0x0000000402047981, 0x000ea2000c1e1900}, {0x0000000504047221, 0x004fca0000000000},
    {0x0000000402007986, 0x000fe2000c101904}, {0x000000000000794d, 0x000fea0003800000},
    {0xfffffffc00fc7947, 0x000fc0000383ffff},
};

static void one_instruction_is_enough(void **state)
{
    (void)state;
    uint64_t code[5][2];
    memcpy(code, computes, sizeof(code));
    assert_false(gp_code_may_wait(code, sizeof(code), 90));
    assert_false(gp_code_may_wait(code, 0, 90));
    code[0][1] |= UINT64_C(10) << 13; /* LDG.E.STRONG.SYS */
    assert_true(gp_code_may_wait(code, sizeof(code), 90));
    memcpy(code, computes, sizeof(code));
    code[2][0] = 0x7018; /* an opcode that nobody knows */
    assert_true(gp_code_may_wait(code, sizeof(code), 90));
}

static void code_elsewhere_may_do_anything(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t word[2];
        bool elsewhere;
    } rows[] = {
        {"BRA back", {0xfffffffc00fc7947, 0x000fc0000383ffff}, false},
        {"BRA far", {0x0000010000fc7947, 0x000fc00003800000}, true},
        {"CALL.REL.NOINC within", {0xfffffffc00f47944, 0x023fea0003c3ffff}, false},
        {"CALL.REL.NOINC by a register", {0xfffffffc02f47344, 0x023fea0003c3ffff}, true},
        {"CALL.ABS.NOINC", {0x0000000002007343, 0x004fea0003c00000}, true},
        {"BRX", {0xfffffffc02dc7949, 0x000fea000383ffff}, true},
        {"RET.REL.NODEC", {0xfffffffc02d47950, 0x000fea0003c3ffff}, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t code[5][2];
        memcpy(code, computes, sizeof(code));
        memcpy(code[2], rows[i].word, sizeof(code[2]));
        print_message("%s\n", rows[i].name);
        assert_int_equal(gp_code_may_wait(code, sizeof(code), 90), rows[i].elsewhere);
        assert_int_equal(gp_code_may_use_textures(code, sizeof(code), 90), rows[i].elsewhere);
    }
}

/* A loop from the second instruction on, if it goes back that far. */
static bool polls(const uint64_t load[2], const uint64_t branch[2], int cc)
{
    uint64_t code[3][2];
    memcpy(code[0], computes[0], sizeof(code[0]));
    memcpy(code[1], load, sizeof(code[1]));
    memcpy(code[2], branch, sizeof(code[2]));
    assert_true(gp_code_spins(code, sizeof(code), cc) || !gp_code_polls(code, sizeof(code), cc));
    return gp_code_polls(code, sizeof(code), cc);
}

static bool spins(const uint64_t load[2], const uint64_t branch[2], int cc)
{
    uint64_t code[3][2];
    memcpy(code[0], computes[0], sizeof(code[0]));
    memcpy(code[1], load, sizeof(code[1]));
    memcpy(code[2], branch, sizeof(code[2]));
    return gp_code_spins(code, sizeof(code), cc);
}

static void a_loop_that_reads_as_the_host_may_write_polls(void **state)
{
    (void)state;
    static const uint64_t system[] = {0x0000000402007981, 0x000ea4000c1f5900},
                          mmio[] = {0x00000004ff007981, 0x000ea200081f8900},
                          system_75[] = {0x00000004ff007980, 0x000ea4000c116900},
                          mmio_75[] = {0x00000004ff007981, 0x000ea2000c1fe900},
                          weak_75[] = {0x00000004ff007980, 0x000ea2000c10e900},
                          gpu_75[] = {0x00000004ff007981, 0x000ea4000c1f4900},
                          gpu[] = {0x0000000402007981, 0x000ea4000c1ef900},
                          plain[] = {0x0000000402047981, 0x000ea2000c1e1900};
    static const uint64_t back[] = {0xfffffffc00f47947, 0x000fc0000383ffff},
                          itself[] = {0xfffffffc00fc7947, 0x000fc0000383ffff},
                          back_75[] = {0xffffffd000007947, 0x000fc0000383ffff};
    assert_int_equal(gp_instruction_jump(back, 90), -32);
    assert_int_equal(gp_instruction_jump(back_75, 75), -32);
    assert_true(polls(system, back, 90));
    assert_true(polls(mmio, back, 90));
    assert_false(polls(system, itself, 90));
    assert_false(polls(plain, back, 90));
    assert_false(polls(back, system, 90)); /* behind the loop */
    assert_true(polls(system_75, back_75, 75));
    assert_true(polls(mmio_75, back_75, 75));
    assert_false(polls(gpu_75, back_75, 75));
    assert_true(spins(gpu_75, back_75, 75));
    assert_true(spins(gpu, back, 90));
    assert_false(polls(gpu, back, 90));
    assert_false(spins(gpu, itself, 90));
    assert_false(spins(plain, back, 90));
    assert_false(spins(weak_75, back_75, 75));
    assert_false(polls(weak_75, back_75, 75));
}

/* ---- PTX ------------------------------------------------------------------------------------- */

struct answers {
    struct gp_code *cubin; /* of the same kernels; NULL: none */
    unsigned count, waiting;
    char last[64];
    bool last_waits;
};

static void take_answer(const char *name, size_t length, bool may_wait, void *data)
{
    struct answers *a = data;
    const char *why;
    size_t size;
    snprintf(a->last, sizeof(a->last), "%.*s", (int)length, name);
    a->last_waits = may_wait;
    a->count++;
    a->waiting += may_wait;
    if (!a->cubin)
        return;
    if (!begins(a->last, "_Z")) /* a function of the device */
        assert_int_equal(may_wait, begins(a->last, "may_"));
    const void *code = gp_code_find(a->cubin, a->last, 90, &size, &why);
    /* Calls of other functions are not followed in machine code. */
    if (code && !strstr(a->last, "call"))
        assert_int_equal(may_wait, gp_code_may_wait(code, size, 90));
}

static void ptx_says_what_its_machine_code_says(void **state)
{
    (void)state;
    size_t size, text_size;
    char *image = read_beside("waits.cubin", &size), *text = read_beside("waits.ptx", &text_size);
    assert_non_null(image);
    assert_non_null(text);
    struct answers a = {.cubin = gp_code_keep(image, size, true)};
    assert_non_null(a.cubin);
    assert_true(gp_ptx_waits(text, text + text_size, take_answer, &a));
    assert_int_equal(a.count, 20);
    assert_int_equal(a.waiting, 13);
    gp_code_drop(a.cubin);
    free(image);
    free(text);
}

/* Whether a function with this body may wait. */
static bool body_waits(const char *body)
{
    char text[512];
    struct answers a = {0};
    snprintf(text, sizeof(text), ".version 8.0\n.visible .entry k(.param .u64 p)\n{\n%s\n}\n",
             body);
    assert_true(gp_ptx_waits(text, text + strlen(text), take_answer, &a));
    assert_int_equal(a.count, 1);
    assert_string_equal(a.last, "k");
    return a.last_waits;
}

static void words_of_ptx_that_show_changes(void **state)
{
    (void)state;
    static const char *const showing[] = {
        "ld.volatile.global.u32 %r1, [%rd1];",
        "@%p1 ld.relaxed.cta.u32 %r1, [%rd1];",
        "ld.global.cv.u32 %r1, [%rd1];",
        "ld.global.ca.L2::64B.u32 %r1, [%rd1];",
        "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "atom.cas.b32 %r1, [%rd1], 1, 2;",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "fence.sc.cluster;",
        "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
        "multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1];",
        "suld.b.2d.b32.trap {%r1}, [s, {%r2, %r3}];",
        "call (r), %rd5, (p), proto;",
        "call.uni (r), of_another_module, (p);",
        "a:new.acquire.gpu %r1;"};
    static const char *const silent[] = {
        "ld.global.u32 %r1, [%rd1];",
        "ld.global.nc.L1::no_allocate.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];",
        "ld.volatile.shared.u32 %r1, [%r2];",
        "atom.shared::cta.add.u32 %r1, [%r2], 1;",
        "red.relaxed.gpu.global.add.f32 [%rd1], %f1;",
        "st.release.sys.global.u32 [%rd1], %r1;",
        "st.volatile.global.u32 [%rd1], %r1;",
        "membar.cta;",
        "fence.acq_rel.cta;",
        "fence.proxy.async.shared::cta;",
        "cp.async.cg.shared.global [%r1], [%rd1], 16;",
        "mbarrier.try_wait.parity.acquire.cta.b64 p, [%r1], 0;",
        "barrier.cluster.wait.acquire.aligned;",
        "call.uni (r), vprintf, (p, q);",
        "// ld.volatile.global.u32",
        "$L_atom.cv: bra $L_atom.cv;"};
    for (size_t i = 0; i < sizeof(showing) / sizeof(showing[0]); i++)
        if (!body_waits(showing[i]))
            fail_msg("%s shows changes", showing[i]);
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
        if (body_waits(silent[i]))
            fail_msg("%s shows nothing", silent[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_says_what_its_machine_code_says),
        cmocka_unit_test(words_of_ptx_that_show_changes),
        cmocka_unit_test(loops_that_wait_are_recognised),
        cmocka_unit_test(every_instruction_is_as_the_disassembler_says),
        cmocka_unit_test(one_instruction_is_enough),
        cmocka_unit_test(code_elsewhere_may_do_anything),
        cmocka_unit_test(a_loop_that_reads_as_the_host_may_write_polls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
