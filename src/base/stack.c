#include "base/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Stacks that are kept for the next. */
#define MOST_KEPT 16
/* The kernel keeps at least so many bytes free for the first thread's stack, even if the stack's
 * limit is changed later. */
#define MOST_OF_FIRST ((size_t)64 << 20)

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER
#endif
#ifdef HAS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

/* Calls work(argument) with the stack pointer at `top`, which is a multiple of 16. */
void gp_stack_switch(void *top, void (*work)(void *), void *argument);

#if defined(__x86_64__)
__asm__(".text\n"
        ".hidden gp_stack_switch\n"
        ".globl gp_stack_switch\n"
        ".type gp_stack_switch, %function\n"
        "gp_stack_switch:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    movq %rdi, %rsp\n"
        "    movq %rdx, %rdi\n"
        "    call *%rsi\n"
        "    movq %rbp, %rsp\n"
        "    popq %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size gp_stack_switch, . - gp_stack_switch\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".hidden gp_stack_switch\n"
        ".globl gp_stack_switch\n"
        ".type gp_stack_switch, %function\n"
        "gp_stack_switch:\n"
        "    .cfi_startproc\n"
        "    hint #34\n" /* bti c */
        "    stp x29, x30, [sp, #-16]!\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset 29, -16\n"
        "    .cfi_offset 30, -8\n"
        "    mov x29, sp\n"
        "    .cfi_def_cfa_register 29\n"
        "    mov sp, x0\n"
        "    mov x0, x2\n"
        "    blr x1\n"
        "    mov sp, x29\n"
        "    ldp x29, x30, [sp], #16\n"
        "    .cfi_def_cfa 31, 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size gp_stack_switch, . - gp_stack_switch\n");
#else
#error "how to change stacks is not known for this processor"
#endif

/* A thread's own stack, as far as it was asked for. */
static __thread char *lowest __attribute__((tls_model("initial-exec")));
static __thread char *highest __attribute__((tls_model("initial-exec")));

/* ---- stacks, the lowest page of which is a guard ----------------------------------------------
 */

/* Addresses, that is: memory is taken as far down as a stack is used. The need of CUPTI and the
 * driver is not known, so each stack is as large as a thread's usual one. Here are the lowest
 * addresses; an exchange takes one or gives it back, also in a signal's handler. */
static char *_Atomic kept[MOST_KEPT];

static char *make(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *stack = mmap(NULL, GP_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    if (mprotect(stack, page, PROT_NONE) == 0)
        return stack;
    munmap(stack, GP_STACK_BYTES);
    return NULL;
}

static char *take(void)
{
    for (size_t i = 0; i < MOST_KEPT; i++) {
        char *stack = atomic_load(&kept[i]) ? atomic_exchange(&kept[i], NULL) : NULL;
        if (stack)
            return stack;
    }
    return make();
}

static void give_back(char *stack)
{
    for (size_t i = 0; i < MOST_KEPT; i++) {
        char *nothing = NULL;
        if (atomic_compare_exchange_strong(&kept[i], &nothing, stack))
            return;
    }
    munmap(stack, GP_STACK_BYTES);
}

/* ---- which one --------------------------------------------------------------------------------
 */

/* The first thread's, below the name of the program, which lies at its very top. For that one libc
 * would open and read a file. */
static void find_first_stack(void)
{
    char *top = (char *)getauxval(AT_EXECFN);
    struct rlimit limit;
    if (!top || getrlimit(RLIMIT_STACK, &limit) != 0)
        return;
    size_t size = limit.rlim_cur < MOST_OF_FIRST ? (size_t)limit.rlim_cur : MOST_OF_FIRST;
    if (size >= (uintptr_t)top)
        return;
    lowest = top - size;
    highest = top;
}

static void find_own_stack(void)
{
    if (syscall(SYS_gettid) == getpid()) { /* glibc names it since 2.30 */
        find_first_stack();
        return;
    }
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        lowest = low;
        highest = lowest + size;
    }
    pthread_attr_destroy(&attributes);
}

struct task {
    void (*work)(void *);
    void *argument;
    char *stack;                          /* ours */
    char *before_lowest, *before_highest; /* of the one that is left for it */
    const void *before_bottom;            /* the same, as the sanitizer has it */
    size_t before_size;
};

static void enter(struct task *task)
{
#ifdef HAS_SANITIZER
    __sanitizer_finish_switch_fiber(NULL, &task->before_bottom, &task->before_size);
#endif
    if (!highest)
        find_own_stack(); /* which takes some */
    task->before_lowest = lowest;
    task->before_highest = highest;
    lowest = task->stack;
    highest = task->stack + GP_STACK_BYTES;
}

static void leave(const struct task *task)
{
    lowest = task->before_lowest;
    highest = task->before_highest;
#ifdef HAS_SANITIZER
    __sanitizer_start_switch_fiber(NULL, task->before_bottom, task->before_size);
#endif
}

static void perform(void *argument)
{
    struct task *task = argument;
    int saved = errno;
    enter(task);
    errno = saved;
    task->work(task->argument);
    saved = errno;
    leave(task);
    errno = saved;
}

static void switch_to(struct task *task)
{
#ifdef HAS_SANITIZER
    void *fake;
    __sanitizer_start_switch_fiber(&fake, task->stack, GP_STACK_BYTES);
#endif
    gp_stack_switch(task->stack + GP_STACK_BYTES, perform, task);
#ifdef HAS_SANITIZER
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static bool is_left(size_t bytes)
{
    const char *here = __builtin_frame_address(0);
    return here > lowest && here < highest && (size_t)(here - lowest) >= bytes;
}

bool gp_stack_run(size_t bytes, void (*work)(void *argument), void *argument)
{
    if (is_left(bytes)) {
        work(argument);
        return true;
    }
    int saved = errno;
    struct task task = {.work = work, .argument = argument, .stack = take()};
    errno = saved;
    if (!task.stack)
        return false;
    switch_to(&task);
    saved = errno;
    give_back(task.stack);
    errno = saved;
    return true;
}
