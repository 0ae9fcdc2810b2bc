/* One of each instruction that counters distinguish, as far as the compiler makes them: compiled for
 * every architecture, disassembled, and read by our decoder. Never run. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void arithmetic(float *f, double *d, __half2 *h, __nv_bfloat162 *b, int n)
{
    int i = threadIdx.x;
    f[i] = __fadd_rn(f[i + 1], f[i + 2]) * f[i + 3] + __fmul_rn(f[i + 4], f[i + 5]);
    d[i] = __dadd_rn(d[i + 1], d[i + 2]) * d[i + 3] + __dmul_rn(d[i + 4], d[i + 5]);
    h[i] = __hadd2_rn(__hfma2(h[i + 1], h[i + 2], h[i + 3]), __hmul2_rn(h[i + 4], h[i + 5]));
    f[i + 8] = __half2float(h[i + 9].x) + sinf(f[i + 9]) + sqrtf(f[i + 10]) / f[i + 11];
#if __CUDA_ARCH__ >= 800
    b[i] = __hfma2(b[i + 1], b[i + 2], __hmul2_rn(b[i + 3], b[i + 4]));
#endif
#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100
    asm volatile("{.reg .b64 p,q,r; ld.global.b64 p,[%0]; ld.global.b64 q,[%0+8];"
                 "fma.rn.f32x2 r,p,q,q; add.rn.f32x2 r,r,q; mul.rn.f32x2 r,r,p;"
                 "st.global.b64 [%0+16],r;}" ::"l"(f));
#endif
    f[i + 20] = __shfl_xor_sync(~0u, f[i + 21], n) + __popc(n) + (float)__clz(n);
}

template <typename T> __device__ void move(T *out, const T *in, T *shared, const void *any)
{
    int i = threadIdx.x;
    T local[33];
    for (int k = 0; k < 33; k++)
        ((volatile T *)local)[k] = in[i + k];
    shared[i] = local[*(volatile int *)in & 31];
    __syncthreads();
    out[i] = shared[i ^ 1];
    *(volatile T *)((char *)any + 16 * i) = *(volatile T *)((char *)any + 16 * i + 1024);
}

__global__ void widths(char *out, const char *in, int which)
{
    __shared__ __align__(16) char shared[4096];
    const void *any = which ? (void *)shared : (void *)out;
    move((unsigned char *)out, (const unsigned char *)in, (unsigned char *)shared, any);
    move((signed char *)out, (const signed char *)in, (signed char *)shared, any);
    move((short *)out, (const short *)in, (short *)shared, any);
    move((unsigned short *)out, (const unsigned short *)in, (unsigned short *)shared, any);
    move((int *)out, (const int *)in, (int *)shared, any);
    move((long long *)out, (const long long *)in, (long long *)shared, any);
    ((float4 *)out)[threadIdx.x] = ((const float4 *)in)[threadIdx.x];
    ((float4 *)shared)[threadIdx.x] = __ldg((const float4 *)in + threadIdx.x + 1);
    __syncthreads();
    ((float4 *)out)[threadIdx.x + 9] = ((float4 *)shared)[threadIdx.x ^ 1];
    ((float4 *)any)[threadIdx.x + 1] = ((float4 *)any)[threadIdx.x + 2];
#if __CUDA_ARCH__ >= 1000
    asm volatile("{.reg .f32 a,b,c,d,e,f,g,h; ld.global.v8.f32 {a,b,c,d,e,f,g,h},[%0];"
                 "st.global.v8.f32 [%1],{a,b,c,d,e,f,g,h};}" ::"l"(in), "l"(out));
#endif
}

template <typename T> __device__ void add(T *where, T what, T *answer)
{
    *answer = atomicAdd(where, what);
    atomicAdd(where + 64, what);
}

template <typename T> __device__ void swap(T *where, T what, T *answer)
{
    answer[0] = atomicCAS(where, what, answer[9]);
    answer[1] = atomicExch(where + 1, what);
    answer[2] = atomicMax(where + 2, what);
}

__global__ void atomics(int *i, unsigned long long *l, float *f, double *d, __half2 *h,
                        __half *one, int which)
{
    __shared__ int si[256];
    __shared__ unsigned long long sl[256];
    int t = threadIdx.x;
    add(i, 1, i + t + 4);
    add(l, 2ull, l + t + 4);
    add(f, 3.f, f + t + 4);
    add(si, t, i + t + 5);
    add(sl, 3ull, l + t + 5);
    swap(i, t, i + t + 6);
    swap(l, (unsigned long long)t, l + t + 6);
    swap(si, t, i + t + 7);
    swap(sl, (unsigned long long)t, l + t + 7);
    add(which ? si : i, t, i + t + 8);
    add(which ? sl : l, 4ull, l + t + 8);
    swap(which ? sl : l, 4ull, l + t + 8);
    add(d, 4., d + t + 4);
    add(h, h[t + 9], h + t + 4);
    add(one, one[9], one + t);
#if __CUDA_ARCH__ >= 900
    ((float4 *)f)[t + 90] = atomicAdd((float4 *)f, ((float4 *)f)[t + 91]);
    atomicAdd((float2 *)f + 200, ((float2 *)f)[t + 99]);
#endif
}

/* Matrices: D, A, B, C with so many registers each, all from and to memory. */
#define MMA(shape, types, d, a, b, c, more)                                                \
    asm volatile("{.reg .b32 r<16>; .reg .f32 f<8>; .reg .f64 d<16>;"                      \
                 "ld.global.b32 r4,[%0]; ld.global.b32 r5,[%0+4]; ld.global.b32 r6,[%0+8];" \
                 "ld.global.b32 r7,[%0+12]; ld.global.b32 r8,[%0+16];"                     \
                 "ld.global.b32 r9,[%0+20]; ld.global.b32 r10,[%0+24];"                    \
                 "ld.global.b32 r11,[%0+28]; ld.global.b32 r0,[%0+32];"                    \
                 "ld.global.b32 r1,[%0+36]; ld.global.b32 r2,[%0+40];"                     \
                 "ld.global.b32 r3,[%0+44]; ld.global.f32 f0,[%0+48];"                     \
                 "ld.global.f32 f1,[%0+52]; ld.global.f32 f2,[%0+56];"                     \
                 "ld.global.f32 f3,[%0+60]; ld.global.f64 d0,[%0+64];"                     \
                 "ld.global.f64 d1,[%0+72]; ld.global.f64 d2,[%0+80];"                     \
                 "ld.global.f64 d3,[%0+88]; mma" shape types d "," a "," b "," c more ";"  \
                 "st.global.b32 [%0],r0; st.global.b32 [%0+4],r1;"                         \
                 "st.global.b32 [%0+8],r2; st.global.b32 [%0+12],r3;"                      \
                 "st.global.f32 [%0+16],f0; st.global.f32 [%0+20],f1;"                     \
                 "st.global.f32 [%0+24],f2; st.global.f32 [%0+28],f3;"                     \
                 "st.global.f64 [%0+32],d0; st.global.f64 [%0+40],d1;}" ::"l"(p)           \
                 : "memory")
#define F4 "{f0,f1,f2,f3}"
#define D2 "{r0,r1}"
#define D4 "{r0,r1,r2,r3}"
#define A1 "{r4}"
#define A2 "{r4,r5}"
#define A4 "{r4,r5,r6,r7}"
#define B1 "{r8}"
#define B2 "{r8,r9}"
#define B4 "{r8,r9,r10,r11}"
#define SHAPE(s) ".sync.aligned." s ".row.col"
#define SPARSE(s) ".sp::ordered_metadata.sync.aligned." s ".row.col"
#define META ",r11,0x0"

__global__ void matrices(float *p)
{
    MMA(SHAPE("m16n8k8"), ".f32.f16.f16.f32 ", F4, A2, B1, F4, "");
    MMA(SHAPE("m16n8k8"), ".f16.f16.f16.f16 ", D2, A2, B1, D2, "");
    MMA(SHAPE("m8n8k16"), ".s32.s8.u8.s32 ", D2, A1, B1, D2, "");
#if __CUDA_ARCH__ < 900
    MMA(SHAPE("m8n8k32"), ".s32.s4.s4.s32 ", D2, A1, B1, D2, "");
    MMA(SHAPE("m8n8k128"), ".s32.b1.b1.s32.xor.popc ", D2, A1, B1, D2, "");
#endif
#if __CUDA_ARCH__ >= 800
    MMA(SHAPE("m16n8k16"), ".f32.f16.f16.f32 ", F4, A4, B2, F4, "");
    MMA(SHAPE("m16n8k16"), ".f32.bf16.bf16.f32 ", F4, A4, B2, F4, "");
    MMA(SHAPE("m16n8k4"), ".f32.tf32.tf32.f32 ", F4, A2, B1, F4, "");
    MMA(SHAPE("m16n8k8"), ".f32.tf32.tf32.f32 ", F4, A4, B2, F4, "");
    MMA(SHAPE("m8n8k4"), ".f64.f64.f64.f64 ", "{d0,d1}", "{d2}", "{d3}", "{d0,d1}", "");
    MMA(SHAPE("m16n8k16"), ".s32.s8.s8.s32 ", D4, A2, B1, D4, "");
    MMA(SHAPE("m16n8k32"), ".s32.s8.s8.s32 ", D4, A4, B2, D4, "");
    MMA(SPARSE("m16n8k32"), ".f32.f16.f16.f32 ", F4, A4, B4, F4, META);
    MMA(SPARSE("m16n8k16"), ".f32.f16.f16.f32 ", F4, A2, B2, F4, META);
    MMA(SPARSE("m16n8k8"), ".f32.tf32.tf32.f32 ", F4, A2, B2, F4, META);
    MMA(SPARSE("m16n8k32"), ".s32.s8.s8.s32 ", D4, A2, B2, D4, META);
    MMA(SPARSE("m16n8k64"), ".s32.s8.s8.s32 ", D4, A4, B4, D4, META);
#endif
#if __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900
    MMA(SHAPE("m16n8k32"), ".s32.s4.s4.s32 ", D4, A2, B1, D4, "");
    MMA(SHAPE("m16n8k64"), ".s32.u4.u4.s32 ", D4, A4, B2, D4, "");
    MMA(SHAPE("m16n8k128"), ".s32.b1.b1.s32.xor.popc ", D4, A2, B1, D4, "");
    MMA(SHAPE("m16n8k256"), ".s32.b1.b1.s32.and.popc ", D4, A4, B2, D4, "");
    MMA(SPARSE("m16n8k128"), ".s32.s4.s4.s32 ", D4, A4, B4, D4, META);
#endif
#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
    MMA(SHAPE("m16n8k32"), ".f32.e4m3.e5m2.f32 ", F4, A4, B2, F4, "");
    MMA(SHAPE("m16n8k16"), ".f16.e4m3.e4m3.f16 ", D2, A2, B1, D2, "");
    MMA(SPARSE("m16n8k64"), ".f32.e4m3.e5m2.f32 ", F4, A4, B4, F4, META);
#endif
#if __CUDA_ARCH__ == 900
    MMA(SHAPE("m16n8k4"), ".f64.f64.f64.f64 ", "{d0,d1,d2,d3}", "{d4,d5}", "{d6}", "{d0,d1,d2,d3}",
        "");
    MMA(SHAPE("m16n8k16"), ".f64.f64.f64.f64 ", "{d0,d1,d2,d3}", "{d4,d5,d6,d7,d8,d9,d10,d11}",
        "{d12,d13,d14,d15}", "{d0,d1,d2,d3}", "");
#endif
}

__global__ void copies(int *p, const int *q)
{
    __shared__ __align__(16) int shared[1024];
    unsigned at = (unsigned)__cvta_generic_to_shared(shared + 4 * threadIdx.x);
    asm volatile("{.reg .b32 r<4>; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0},[%0];"
                 "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r1,r2},[%0];"
                 "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0,r1,r2,r3},[%0];"
                 "st.shared.b32 [%0],r0; st.shared.b32 [%0+4],r1; st.shared.b32 [%0+8],r2;}" ::"r"(at)
                 : "memory");
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0],[%1],4; cp.async.ca.shared.global [%0+64],[%1],8;"
                 "cp.async.cg.shared.global [%0+128],[%1],16; cp.async.wait_all;" ::"r"(at),
                 "l"(q + 4 * threadIdx.x)
                 : "memory");
#endif
#if __CUDA_ARCH__ >= 900
    asm volatile("{.reg .b32 r<4>; ld.shared.v4.b32 {r0,r1,r2,r3},[%0];"
                 "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0],{r0};"
                 "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0],{r0,r1,r2,r3};}" ::"r"(at)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0],[%1],128,[%2];" ::"r"(at),
                 "l"(q), "r"(at + 2048)
                 : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%1],[%0],128;" ::"r"(at), "l"(p)
                 : "memory");
#endif
    __syncthreads();
    p[threadIdx.x] = shared[threadIdx.x ^ 1];
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define GROUP(shape, types, d, more)                                                        \
    asm volatile("{.reg .f32 f<8>; .reg .b32 r<8>; .reg .b64 a; ld.global.b64 a,[%0];"      \
                 "ld.global.f32 f0,[%0]; ld.global.f32 f1,[%0+4]; ld.global.f32 f2,[%0+8];" \
                 "ld.global.f32 f3,[%0+12]; ld.global.b32 r4,[%0+16];"                      \
                 "ld.global.b32 r0,[%0]; ld.global.b32 r1,[%0+4]; ld.global.b32 r2,[%0+8];" \
                 "ld.global.b32 r3,[%0+12]; wgmma.fence.sync.aligned;"                      \
                 "wgmma.mma_async" shape types d ",a,a," more ";"                           \
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"        \
                 "st.global.f32 [%0],f0; st.global.f32 [%0+4],f1; st.global.f32 [%0+8],f2;" \
                 "st.global.f32 [%0+12],f3; st.global.b32 [%0+16],r0;"                      \
                 "st.global.b32 [%0+20],r1;}" ::"l"(p)                                      \
                 : "memory")
__global__ void groups(float *p)
{
    GROUP(".sync.aligned.m64n8k16", ".f32.f16.f16 ", F4, "1,1,1,0,0");
    GROUP(".sync.aligned.m64n8k8", ".f32.tf32.tf32 ", F4, "1,1,1");
    GROUP(".sync.aligned.m64n8k32", ".f32.e4m3.e5m2 ", F4, "1,1,1");
    GROUP(".sync.aligned.m64n8k32", ".s32.s8.s8 ", D4, "1");
    GROUP(".sync.aligned.m64n8k256", ".s32.b1.b1.and.popc ", D4, "1");
    GROUP(".sp.sync.aligned.m64n8k32", ".f32.f16.f16 ", F4, "r4,0,1,1,1,0,0");
    GROUP(".sp.sync.aligned.m64n8k64", ".f32.e4m3.e4m3 ", F4, "r4,0,1,1,1");
    GROUP(".sp.sync.aligned.m64n8k64", ".s32.s8.s8 ", D4, "r4,0,1");
}
#endif
