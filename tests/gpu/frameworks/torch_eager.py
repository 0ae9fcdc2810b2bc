"""Eager PyTorch: a small network with convolutions, normalisation, attention, an embedding and dropout
is trained for two steps with autograd, on two streams alternately."""

from common import DEVICE, deterministic_torch, show_tensors

torch = deterministic_torch()
nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                                    nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.GELU())
        self.words = nn.Embedding(100, 64)
        self.joined = nn.Linear(32 * 64 // 64, 64)
        self.to_qkv = nn.Linear(64, 3 * 64)
        self.norm, self.drop, self.out = nn.LayerNorm(64), nn.Dropout(0.1), nn.Linear(64, 10)

    def forward(self, images, words):
        seen = self.images(images).flatten(2).transpose(1, 2)
        x = self.words(words) + self.joined(seen)
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        x = x + torch.softmax(q @ k.transpose(1, 2) / 8, dim=-1) @ v
        return self.out(self.drop(self.norm(x)).mean(dim=1))


net = Net().to(DEVICE)
images = torch.randn(16, 3, 16, 16).to(DEVICE)
words = torch.randint(0, 100, (16, 64)).to(DEVICE)
labels = torch.randint(0, 10, (16,)).to(DEVICE)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images, words), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.9g}")
show_tensors("weights", net.parameters())
show_tensors("gradients", (weights.grad for weights in net.parameters()))

numbers = torch.randn(100000, device=DEVICE)
if DEVICE == "cuda":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        sorted_numbers, order = numbers.sort()
    torch.cuda.current_stream().wait_stream(side)
else:
    sorted_numbers, order = numbers.sort()
half = (numbers[:65536].view(256, 256).half() @ numbers[1024:66560].view(256, 256).half()).float()
show_tensors("drawn on the device, sorted, multiplied in half", (numbers, sorted_numbers, order, half))
