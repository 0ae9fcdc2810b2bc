"""PyTorch with CUDA graphs: training steps are captured and replayed with new inputs, with eager work
between the replays."""

from common import DEVICE, cannot, deterministic_torch, show_tensors

torch = deterministic_torch()
if DEVICE != "cuda":
    cannot("there are no graphs but on the GPU")
nn = torch.nn

net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 8)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
batches = [torch.randn(32, 64) for _ in range(6)]
inputs, wanted = torch.zeros(32, 64, device="cuda"), torch.randn(32, 8).cuda()


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.mse_loss(net(inputs), wanted)
    loss.backward()
    optimizer.step()
    return loss


# Captured work has to have run before, on a stream beside the default one.
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    captured_loss = step()
seen = []
for batch in batches:
    inputs.copy_(batch)
    graph.replay()
    inputs.mul_(2).add_(1)  # eager work on the graph's input
    seen.append(captured_loss.clone())
    graph.replay()
torch.cuda.synchronize()
print("losses:", " ".join(f"{loss.item():.9g}" for loss in seen))
show_tensors("weights", net.parameters())

layer = nn.Linear(64, 64).cuda()
graphed = torch.cuda.make_graphed_callables(layer, (torch.randn(8, 64, device="cuda"),))
for k in range(3):
    graphed(batches[k][:8].cuda()).sum().backward()
show_tensors("gradients through a graphed layer", (weights.grad for weights in layer.parameters()))
