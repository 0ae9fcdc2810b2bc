/* A kernel as a program brings it that has no CUDA runtime: PTX in a string.
 * scale(data, n, factor): data[i] = data[i] * factor + i. */
static const char scale_ptx[] = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 n, .param .u32 factor)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<4>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r1, [n];
    setp.ge.u32 %p, %r0, %r1;
    @%p bra done;
    ld.param.u64 %d0, [data];
    cvta.to.global.u64 %d0, %d0;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d0, %d0, %d1;
    ld.param.u32 %r3, [factor];
    ld.global.u32 %r4, [%d0];
    mad.lo.u32 %r4, %r4, %r3, %r0;
    st.global.u32 [%d0], %r4;
done:
    ret;
}
)";

#define SCALE_N 3000
#define SCALE_BLOCK 128

/* After `launches` launches with factors 1, 2, 3, ... on data that was i % 10. */
static unsigned scale_expected(unsigned i, int launches)
{
    unsigned value = i % 10;
    for (int k = 1; k <= launches; k++)
        value = value * k + i;
    return value;
}
