"""RMM's pool over nine tenths of the GPU's memory, from which CuPy has its arrays: factorisations, sorts, sums, and pieces
that are given back in another order than they were had.
WHOLE: each launch has all default metrics. ALONE: it takes most of the GPU's memory."""

from common import cannot, cupy_on_gpus, show

cupy = cupy_on_gpus()
import numpy  # noqa: E402

try:
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator
except ImportError as problem:
    cannot(f"no RMM: {problem}")

free, _ = cupy.cuda.runtime.memGetInfo()
rmm.reinitialize(pool_allocator=True, initial_pool_size=int(0.9 * free) // 256 * 256)
cupy.cuda.set_allocator(rmm_cupy_allocator)

numbers = numpy.random.default_rng(8)
for size in (96, 400, 1000):
    left = cupy.asarray(numbers.standard_normal((size, size)) + size * numpy.eye(size))
    right = cupy.asarray(numbers.standard_normal((size, 3)))
    solution = cupy.linalg.solve(left, right)
    print(f"{size}: error below 1e-9:", bool(abs(left @ solution - right).max() < 1e-9))
    show(f"solved, {size}", solution.get())
    show(f"transformed, {size}", cupy.fft.fft(right, axis=0).get())
kept = {}
for step in range(48):
    values = cupy.arange(1 << (9 + step % 10), dtype=cupy.uint32) * (2 * step + 1)
    kept[step] = cupy.sort(values ^ 0x33333333)[::-1] + step
    kept[step] += cupy.cumsum(kept[step] & 7, dtype=cupy.uint32)
    if step % 4 == 3:
        del kept[step - 2]
show("kept", *(block.get() for block in kept.values()))
print("in RMM's pool:", isinstance(rmm.mr.get_current_device_resource(), rmm.mr.PoolMemoryResource))
