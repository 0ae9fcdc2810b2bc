"""torch.compile with mode="reduce-overhead": its kernels run in CUDA graphs that PyTorch captures, with memory
pools of their own. Small integers, as in torch_compiled.py."""

from common import compiling_torch, own_cache, show_tensors

with own_cache():
    torch = compiling_torch(only_on_gpu=True)

    @torch.compile(mode="reduce-overhead")
    def work(x, w):
        y = torch.relu(x @ w)
        return torch.where(y > 3, 2 * y - 1, y), y.sum(dim=0)

    w = torch.randint(-1, 2, (128, 64)).float().cuda()
    for number in range(6):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randint(-2, 3, (256, 128)).float().cuda()
        y, sums = work(x, w)
        w = torch.sign(w + sums.clone())
        show_tensors(f"step {number}", (y, sums, w))
