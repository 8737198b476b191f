"""Trains LeNet on random pictures with paddle.DataParallel on CPUs, and prints the speed of each step.

Arguments: pictures a process and step, number of steps, seed. Started by paddle.distributed.launch on every node.
"""

import sys
import time

import numpy as np
import paddle
import paddle.distributed as dist

batch, steps, seed = map(int, sys.argv[1:])
paddle.set_device("cpu")
dist.init_parallel_env()
rank, world = dist.get_rank(), dist.get_world_size()

paddle.seed(seed)
model = paddle.DataParallel(paddle.vision.models.LeNet())
optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
loss_of = paddle.nn.CrossEntropyLoss()
rng = np.random.default_rng([seed, rank])
pictures = paddle.to_tensor(rng.random((batch, 1, 28, 28), dtype=np.float32))
labels = paddle.to_tensor(rng.integers(0, 10, (batch, 1)))

for step in range(steps):
    start = time.perf_counter()
    loss = loss_of(model(pictures), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    value = float(loss)
    seconds = time.perf_counter() - start
    # Ranks are given out as nodes arrive: rank 0 may be any replica.
    if rank == 0:
        print(f"step {step} images/s {world * batch / seconds:.1f} loss {value:.6f}", flush=True)
