/* Our exported dlsym. It asks gp_dlsym_answer whether the name is one of the driver functions we
 * stand in for; if not, it jumps to libc's dlsym with every register as it came, so that libc sees
 * the program's return address: RTLD_NEXT and RTLD_DEFAULT are relative to the caller, and a C
 * function could only forward them as a tail call when the compiler feels like it. */
    .text
    .globl dlsym
    .type dlsym, %function
    .hidden gp_dlsym_answer
    .hidden gp_real_dlsym

#if defined(__x86_64__)
dlsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp /* the stack is 16-byte aligned at a call */
    .cfi_adjust_cfa_offset 8
    movq 24(%rsp), %rdx /* our caller */
    call gp_dlsym_answer
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rax, %rax
    jz 1f
    cmpq $1, %rax /* 1: the answer is NULL */
    je 2f
    ret
1:  movq gp_real_dlsym(%rip), %rax
    testq %rax, %rax
    jz 3f
    jmp *%rax
2:  xorl %eax, %eax
3:  ret
    .cfi_endproc

#elif defined(__aarch64__)
dlsym:
    .cfi_startproc
    hint #34 /* bti c */
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    mov x29, sp
    stp x0, x1, [sp, #16]
    mov x2, x30 /* our caller */
    bl gp_dlsym_answer
    mov x3, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    cbz x3, 1f
    cmp x3, #1 /* 1: the answer is NULL */
    b.eq 2f
    mov x0, x3
    ret
1:  adrp x3, gp_real_dlsym
    ldr x3, [x3, :lo12:gp_real_dlsym]
    cbz x3, 2f
    br x3
2:  mov x0, xzr
    ret
    .cfi_endproc
#else
#error "no dlsym trampoline for this processor"
#endif
    .size dlsym, .-dlsym
    .section .note.GNU-stack, "", %progbits
