"""Triton by itself: a kernel that is tuned when it is first launched, by launches that Triton times, and one
that multiplies matrices on the tensor cores. All numbers are small integers: every choice gives the same."""

from common import compiling_torch, own_cache, show_tensors

with own_cache():
    torch = compiling_torch(only_on_gpu=True)
    import triton
    import triton.language as tl

    @triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps)
                              for block, warps in ((128, 4), (512, 4), (1024, 8))], key=["size"])
    @triton.jit
    def scale(source, target, size, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(source + at, mask=at < size, other=0.0)
        tl.store(target + at, tl.where(value > 0, 2 * value + 1, -value), mask=at < size)

    @triton.jit
    def multiply(a, b, c, K: tl.constexpr, N: tl.constexpr, TILE: tl.constexpr):
        row = tl.program_id(0) * TILE + tl.arange(0, TILE)
        column = tl.program_id(1) * TILE + tl.arange(0, TILE)
        total = tl.zeros((TILE, TILE), dtype=tl.float32)
        for k in range(0, K, TILE):
            inner = k + tl.arange(0, TILE)
            total += tl.dot(tl.load(a + row[:, None] * K + inner[None, :]),
                            tl.load(b + inner[:, None] * N + column[None, :]))
        tl.store(c + row[:, None] * N + column[None, :], total)

    for size in (1000, 1 << 18):
        source = torch.randint(-50, 50, (size,)).float().cuda()
        target = torch.empty_like(source)
        for _ in range(3):
            scale[lambda meta: (triton.cdiv(size, meta["BLOCK"]),)](source, target, size)
        show_tensors(f"{size} elements", (target,))
    a = torch.randint(-3, 4, (256, 128)).half().cuda()
    b = torch.randint(-3, 4, (128, 192)).half().cuda()
    c = torch.empty(256, 192, device="cuda")
    for _ in range(2):
        multiply[(256 // 64, 192 // 64)](a, b, c, 128, 192, 64)
    show_tensors("product", (c,))
