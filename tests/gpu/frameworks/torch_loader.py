"""PyTorch as people train with it: worker processes load the batches, which are forked after CUDA has
started; pinned memory, copies that do not block, convolutions, mixed precision with a gradient scaler."""

from common import DEVICE, cannot, deterministic_torch, show_tensors

torch = deterministic_torch()
if DEVICE != "cuda":
    cannot("mixed precision and pinned memory need the GPU")
nn = torch.nn


class Digits(torch.utils.data.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        drawn = torch.Generator().manual_seed(i)
        return torch.randn(3, 32, 32, generator=drawn), i % 10


net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, stride=2), nn.BatchNorm2d(16), nn.ReLU(),
                    nn.Conv2d(16, 32, 3, padding=1, stride=4), nn.ReLU(), nn.Flatten(),
                    nn.Linear(512, 10)).cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
for epoch in range(2):
    loader = torch.utils.data.DataLoader(Digits(), batch_size=16, num_workers=2, pin_memory=True)
    for images, labels in loader:
        images = images.cuda(non_blocking=True).to(memory_format=torch.channels_last)
        labels = labels.cuda(non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(net(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(f"epoch {epoch}: {loss.item():.9g}", flush=True)
show_tensors("weights", net.parameters())
