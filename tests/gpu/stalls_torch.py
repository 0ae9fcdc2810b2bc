"""Kernels of PyTorch and of Triton for tests/gpu/stalls: elementwise, reductions, sorts,
indices, convolutions, attention and products, and five kernels in Python, with lines. Ends with status 77 and the
reason on stderr where there is no PyTorch or no GPU."""

from with_torch import torch_on

torch = torch_on("cuda")
F = torch.nn.functional


def eager():
    torch.manual_seed(3)
    rows = torch.randn(4096, 2048, device="cuda")
    half = rows.bfloat16()
    images = torch.randn(32, 64, 56, 56, device="cuda")
    filters = torch.randn(64, 64, 3, 3, device="cuda")
    index = torch.randint(0, 4096, (8192,), device="cuda")
    labels = torch.randint(0, 2048, (4096,), device="cuda")
    weight, bias = torch.ones(2048, device="cuda"), torch.zeros(2048, device="cuda")
    query = torch.randn(8, 16, 512, 64, device="cuda").bfloat16()
    ways = (
        lambda: rows + 1,
        lambda: rows * weight,
        lambda: F.gelu(rows),
        lambda: torch.sin(rows),
        lambda: rows.t().contiguous(),
        lambda: half.float(),
        lambda: F.softmax(rows, 1),
        lambda: F.layer_norm(rows, (2048,), weight, bias),
        lambda: rows.sum(),
        lambda: rows.sum(0),
        lambda: rows.cumsum(1),
        lambda: rows[:, :1024].sort(1),
        lambda: rows.topk(16, 1),
        lambda: rows.index_select(0, index),
        lambda: torch.zeros_like(rows).index_add_(0, index, rows[index]),
        lambda: F.embedding(labels, rows),
        lambda: F.cross_entropy(rows, labels),
        lambda: F.batch_norm(images, None, None, training=True),
        lambda: F.max_pool2d(images, 2),
        lambda: F.interpolate(images, scale_factor=2, mode="bilinear"),
        lambda: F.conv2d(images, filters, padding=1),
        lambda: F.scaled_dot_product_attention(query, query, query),
        lambda: rows @ rows.t(),
        lambda: half @ half.t(),
        lambda: F.dropout(rows, 0.1),
        lambda: torch.cat((rows, rows), 1),
        lambda: torch.where(rows > 0, rows, -rows),
        lambda: torch.bincount(labels, minlength=2048),
    )
    for way in ways:
        way()


def in_python():
    import triton
    import triton.language as tl

    @triton.jit
    def softmax(source, target, width, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        at = tl.arange(0, BLOCK)
        x = tl.load(source + row * width + at, mask=at < width, other=-float("inf"))
        x = tl.exp(x - tl.max(x, axis=0))
        tl.store(target + row * width + at, x / tl.sum(x, axis=0), mask=at < width)

    @triton.jit
    def multiply(a, b, c, K, N, TILE: tl.constexpr, STEP: tl.constexpr):
        row = tl.program_id(0) * TILE + tl.arange(0, TILE)
        column = tl.program_id(1) * TILE + tl.arange(0, TILE)
        total = tl.zeros((TILE, TILE), dtype=tl.float32)
        for k in range(0, K, STEP):
            inner = k + tl.arange(0, STEP)
            x = tl.load(a + row[:, None] * K + inner[None, :])
            y = tl.load(b + inner[:, None] * N + column[None, :])
            total += tl.dot(x, y)
        tl.store(c + row[:, None] * N + column[None, :], total)

    @triton.jit
    def gather(table, index, target, width, BLOCK: tl.constexpr):
        row = tl.load(index + tl.program_id(0))
        at = tl.arange(0, BLOCK)
        value = tl.load(table + row * width + at, mask=at < width)
        tl.store(target + tl.program_id(0) * width + at, value * 2, mask=at < width)

    @triton.jit
    def histogram(source, bins, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(bins + tl.load(source + at), 1)

    @triton.jit
    def steps(source, target, rounds, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(source + at)
        for _ in range(rounds):
            x = tl.sin(x) * 0.5 + x
        tl.store(target + at, x)

    rows = torch.randn(4096, 1024, device="cuda")
    target = torch.empty_like(rows)
    a = torch.randn(2048, 1024, device="cuda").half()
    b = torch.randn(1024, 2048, device="cuda").half()
    c = torch.empty(2048, 2048, device="cuda")
    index = torch.randint(0, 4096, (4096,), device="cuda")
    small = torch.randint(0, 64, (1 << 20,), device="cuda")
    bins = torch.zeros(64, dtype=torch.int32, device="cuda")
    softmax[(4096,)](rows, target, 1024, BLOCK=1024)
    multiply[(2048 // 128, 2048 // 128)](a, b, c, 1024, 2048, TILE=128, STEP=32, num_warps=8)
    gather[(4096,)](rows, index, target, 1024, BLOCK=1024)
    histogram[((1 << 20) // 1024,)](small, bins, BLOCK=1024)
    steps[(4096,)](rows, target, 20, BLOCK=1024)


eager()
in_python()
torch.cuda.synchronize()
