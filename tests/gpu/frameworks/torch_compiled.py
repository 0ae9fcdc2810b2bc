"""torch.compile: kernels that Triton makes while the program runs, forwards and backwards. All numbers
are small integers, so that sums are exact in any order in which the chosen kernels add."""

from common import DEVICE, compiling_torch, own_cache, show_tensors

with own_cache():
    torch = compiling_torch()

    def work(x, w, b):
        y = torch.relu(x @ w + b)
        z = torch.where(y > 3, 2 * y - 1, y)
        return z, z.sum(dim=0), z.amax(dim=1)

    x = torch.randint(-2, 3, (256, 128)).float().to(DEVICE)
    w = torch.randint(-1, 2, (128, 64)).float().to(DEVICE).requires_grad_()
    b = torch.randint(-4, 5, (64,)).float().to(DEVICE).requires_grad_()
    compiled = torch.compile(work)
    for step in range(3):
        z, sums, most = compiled(x, w, b)
        (sums.sum() + most.sum()).backward()
        with torch.no_grad():
            w -= torch.sign(w.grad)
            b += torch.sign(b.grad)
        show_tensors(f"step {step}", (z, sums, most, w, b, w.grad, b.grad))
        w.grad = b.grad = None
