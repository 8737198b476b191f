"""ResNet-50 on random pictures with DistributedDataParallel: what forward, backward and all-reduce do together, without a disk.

torchrun starts it, once for each process. Needs PyTorch and nothing else. Prints lines such as
`step 12 images/s 3120.5 loss 6.91`, of all processes together.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Bottleneck(nn.Module):
    """Three convolutions around which the input goes too."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out = 4 * width
        self.path = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )
        self.around = nn.Identity()
        if stride != 1 or channels != out:
            self.around = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.path(pictures) + self.around(pictures))


def resnet50(classes: int) -> nn.Sequential:
    """ResNet-50 v1.5: 25.6 million parameters with 1000 classes."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    channels = 64
    for width, blocks, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, stride if block == 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=256, help="pictures of each process and step")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--image-size", type=int, default=224)
    given = parser.parse_args()

    has_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if has_gpu else "gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
        torch.backends.cudnn.benchmark = True
    torch.manual_seed(42)
    model = resnet50(1000).to(device, memory_format=torch.channels_last)
    model = DistributedDataParallel(model, device_ids=[device] if has_gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    # One batch for all steps: its loss falls, and a step that computes nonsense shows.
    torch.manual_seed(rank)
    size = (given.batch_size, 3, given.image_size, given.image_size)
    pictures = torch.randn(size, device=device).to(memory_format=torch.channels_last)
    classes = torch.randint(1000, (given.batch_size,), device=device)
    if rank == 0:
        print(f"processes {processes} device {device.type} parameters {sum(p.numel() for p in model.parameters())}", flush=True)
    for step in range(given.steps):
        start = time.perf_counter()
        with torch.autocast(device.type, torch.bfloat16, enabled=has_gpu):
            loss = nn.functional.cross_entropy(model(pictures), classes)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        # Waits for the GPU, which works after the calls have returned.
        value = loss.item()
        seconds = time.perf_counter() - start
        if rank == 0:
            print(f"step {step} images/s {processes * given.batch_size / seconds:.1f} loss {value:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
