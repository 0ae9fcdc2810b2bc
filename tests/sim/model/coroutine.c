#include "model/coroutine.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK_BYTES (64 * 1024)

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif

#ifdef ASAN
#include <sanitizer/common_interface_defs.h>
#define LEAVE(save, bottom, bytes) __sanitizer_start_switch_fiber(save, bottom, bytes)
#define ARRIVE(saved, bottom, bytes) __sanitizer_finish_switch_fiber(saved, bottom, bytes)
#else
#define LEAVE(save, bottom, bytes) ((void)0)
#define ARRIVE(saved, bottom, bytes) ((void)0)
#endif

/*
 * Saves the registers that a called function must keep, stores the stack pointer at *save, takes
 * the other one and restores from there. A new stack is laid out as if it had been left this way.
 */
void gpusim_switch_stacks(void **save, void *load) __asm__("gpusim_switch_stacks");
void gpusim_first_frame(void) __asm__("gpusim_first_frame");
_Noreturn void gpusim_coroutine_main(struct gpusim_coroutine *c) __asm__("gpusim_coroutine_main");

#if defined(__x86_64__)
enum { FRAME_WORDS = 7, ARGUMENT_WORD = 3, RETURN_WORD = 6 };
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden gpusim_switch_stacks\n"
        ".globl gpusim_switch_stacks\n"
        ".type gpusim_switch_stacks, @function\n"
        "gpusim_switch_stacks:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size gpusim_switch_stacks, .-gpusim_switch_stacks\n"
        ".hidden gpusim_first_frame\n"
        ".globl gpusim_first_frame\n"
        ".type gpusim_first_frame, @function\n"
        "gpusim_first_frame:\n"
        "    movq %r12, %rdi\n"
        "    call gpusim_coroutine_main\n"
        "    ud2\n"
        ".size gpusim_first_frame, .-gpusim_first_frame\n");
#elif defined(__aarch64__)
enum { FRAME_WORDS = 20, ARGUMENT_WORD = 0, RETURN_WORD = 11 };
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden gpusim_switch_stacks\n"
        ".globl gpusim_switch_stacks\n"
        ".type gpusim_switch_stacks, @function\n"
        "gpusim_switch_stacks:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size gpusim_switch_stacks, .-gpusim_switch_stacks\n"
        ".hidden gpusim_first_frame\n"
        ".globl gpusim_first_frame\n"
        ".type gpusim_first_frame, @function\n"
        "gpusim_first_frame:\n"
        "    mov x0, x19\n"
        "    bl gpusim_coroutine_main\n"
        "    brk #1\n"
        ".size gpusim_first_frame, .-gpusim_first_frame\n");
#else
#error "the simulated GPU knows how to switch stacks on x86-64 and aarch64 only"
#endif

/* Stacks are kept from one launch to the next: mapping a thousand of them takes a millisecond. */
static struct {
    pthread_mutex_t lock;
    struct gpusim_coroutine *all;
    unsigned count;
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static void unmap(struct gpusim_coroutine *all, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (all[i].stack)
            (void)munmap(all[i].stack, all[i].stack_bytes);
    free(all);
}

struct gpusim_coroutine *gpusim_coroutines_new(unsigned count)
{
    struct gpusim_coroutine *all = NULL;

    pthread_mutex_lock(&kept.lock);
    if (kept.all && kept.count >= count) {
        all = kept.all;
        kept.all = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
    if (all)
        return all;

    all = calloc(count, sizeof(*all));
    if (!all)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) {
            unmap(all, count);
            return NULL;
        }
        all[i].stack = stack;
        all[i].stack_bytes = STACK_BYTES;
    }
    return all;
}

void gpusim_coroutines_free(struct gpusim_coroutine *all, unsigned count)
{
    pthread_mutex_lock(&kept.lock);
    if (!kept.all) {
        kept.all = all;
        kept.count = count;
        all = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
    if (all)
        unmap(all, count);
}

void gpusim_coroutine_start(struct gpusim_coroutine *c, void (*body)(void *), void *argument)
{
    /* One word above the frame keeps the stack aligned at the first call. */
    uintptr_t top = (uintptr_t)(c->stack + c->stack_bytes - 64);
    void **frame = (void **)top - FRAME_WORDS;
    void (*first)(void) = gpusim_first_frame;

    memset(frame, 0, FRAME_WORDS * sizeof(*frame));
    frame[ARGUMENT_WORD] = c;
    memcpy(&frame[RETURN_WORD], &first, sizeof(first));
    c->stack_pointer = frame;
    c->body = body;
    c->argument = argument;
    c->done = false;
    c->fake_stack = NULL;
}

void gpusim_coroutine_resume(struct gpusim_coroutine *c)
{
    LEAVE(&c->caller_fake_stack, c->stack, c->stack_bytes);
    gpusim_switch_stacks(&c->caller_pointer, c->stack_pointer);
    ARRIVE(c->caller_fake_stack, NULL, NULL);
}

void gpusim_coroutine_yield(struct gpusim_coroutine *c)
{
    LEAVE(c->done ? NULL : &c->fake_stack, c->caller_bottom, c->caller_bytes);
    gpusim_switch_stacks(&c->stack_pointer, c->caller_pointer);
    ARRIVE(c->fake_stack, &c->caller_bottom, &c->caller_bytes);
}

_Noreturn void gpusim_coroutine_main(struct gpusim_coroutine *c)
{
    ARRIVE(NULL, &c->caller_bottom, &c->caller_bytes);
    c->body(c->argument);
    c->done = true;
    gpusim_coroutine_yield(c);
    abort(); /* nobody resumes an ended one */
}
