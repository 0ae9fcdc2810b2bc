"""CuPy with nearly all of the GPU's memory in its pool, as RMM keeps it: batched factorisations, whose kernels have the
addresses of their matrices from memory, and work on pieces of the pool.
WHOLE: each launch has all default metrics. ALONE: it takes most of the GPU's memory."""

from common import cupy_on_gpus, show

cupy = cupy_on_gpus()
import numpy  # noqa: E402

free, _ = cupy.cuda.runtime.memGetInfo()
pool = cupy.get_default_memory_pool()
taken = pool.malloc(int(0.9 * free))
del taken  # The pool keeps it, and divides it.

numbers = numpy.random.default_rng(6)
for count, size in ((40, 24), (12, 64), (3, 200)):
    matrices = cupy.asarray(numbers.standard_normal((count, size, size)) + size * numpy.eye(size))
    inverse = cupy.linalg.inv(matrices)
    right = cupy.asarray(numbers.standard_normal((count, size, 2)))
    solution = cupy.linalg.solve(matrices, right)
    print(f"{count} of {size}: error below 1e-9:", bool(abs(matrices @ solution - right).max() < 1e-9),
          bool(abs(matrices @ inverse - cupy.eye(size)).max() < 1e-9))
    show(f"{count} of {size}", inverse.get(), solution.get())
kept = []
for step in range(30):
    block = cupy.arange(1 << (10 + step % 9), dtype=cupy.uint32) * (step + 1)
    kept.append(cupy.sort(block ^ 0x5a5a5a5a)[::-1] + step)
    if step % 3 == 2:
        del kept[0]
show("kept", *(block.get() for block in kept))
print("one pool:", pool.total_bytes() >= int(0.9 * free))
