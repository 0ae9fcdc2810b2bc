"""Numba: kernels compiled from Python, with shared memory, atomic additions of whole numbers, two streams
and memory that is freed between launches."""

from common import cannot, show

try:
    import numpy
    from numba import cuda, int64
except (ImportError, AttributeError) as problem:  # of a name that a newer NumPy does not have
    cannot(f"no Numba that works: {problem}")
if not cuda.is_available():
    cannot("Numba sees no GPU")

BLOCK = 128


@cuda.jit
def step(data, k):
    i = cuda.grid(1)
    if i < data.size:
        data[i] = 3 * data[i] + k


@cuda.jit
def sums_of_blocks(data, sums):
    part = cuda.shared.array(BLOCK, int64)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    part[thread] = data[i] if i < data.size else 0
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if thread < half:
            part[thread] += part[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def histogram(data, bins):
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(bins, abs(data[i]) % bins.size, 1)


for size in (1 << 10, 100_003, 1 << 18):
    host = (numpy.arange(size, dtype=numpy.int64) * 2654435761) % 1009 - 500
    blocks = (size + BLOCK - 1) // BLOCK
    data, sums = cuda.to_device(host), cuda.device_array(blocks, numpy.int64)
    bins = cuda.to_device(numpy.zeros(32, numpy.int32))
    for k in range(4):
        step[blocks, BLOCK](data, k)
        sums_of_blocks[blocks, BLOCK](data, sums)
        histogram[blocks, BLOCK](data, bins)
    show(f"{size} elements", data.copy_to_host(), sums.copy_to_host(), bins.copy_to_host())
    del data, sums, bins

first, second = cuda.stream(), cuda.stream()
one, two = (cuda.to_device(numpy.arange(1 << 16, dtype=numpy.int64), stream=s) for s in (first, second))
for k in range(5):
    step[512, BLOCK, first](one, k)
    step[512, BLOCK, second](two, 7 * k)
show("two streams", one.copy_to_host(stream=first), two.copy_to_host(stream=second))
