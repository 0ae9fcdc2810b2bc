"""CuPy: kernels compiled while the program runs, a raw one too, with a memory pool, two streams and
the libraries below."""

import os
import shutil
import tempfile

from common import cupy_on_gpus, show

# A cache of its own: everything is compiled anew, also under gpuprof.
cache = tempfile.mkdtemp(prefix="cupy-")
os.environ["CUPY_CACHE_DIR"] = cache
try:
    cupy = cupy_on_gpus()

    step = cupy.RawKernel(r"""
        extern "C" __global__ void step(unsigned *data, unsigned n, unsigned k)
        {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n)
                data[i] = 3 * data[i] + k;
        }""", "step")
    data = cupy.arange(1 << 20, dtype=cupy.uint32)
    for k in range(5):
        step((4096,), (256,), (data, cupy.uint32(data.size), cupy.uint32(k)))
    show("raw kernel", data.get())

    values = cupy.asarray([(i * 37) % 101 - 50 for i in range(1 << 16)], dtype=cupy.float32)
    table = values.reshape(256, 256)
    show("element by element", cupy.where(table > 0, 2 * table + 1, -table).get())
    show("reduced", table.sum(axis=0).get(), table.max(axis=1).get(), cupy.sort(values).get())
    show("multiplied", (table @ table.T).get())

    side = cupy.cuda.Stream(non_blocking=True)
    for number in range(4):
        with side:
            block = cupy.full(1 << (16 + number), number, dtype=cupy.int32)
            block += cupy.arange(block.size, dtype=cupy.int32)
            side.synchronize()
            show(f"from the pool, {number}", block.get())
        del block
    cupy.get_default_memory_pool().free_all_blocks()
finally:
    shutil.rmtree(cache, ignore_errors=True)
