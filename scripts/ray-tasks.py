"""Starts tasks that do nothing and prints how many a second come back."""

import sys
import time

import ray

TASKS = 1000

ray.init()


@ray.remote
def nothing():
    pass


for step in range(int(sys.argv[1])):
    start = time.perf_counter()
    ray.get([nothing.remote() for _ in range(TASKS)])
    print(f"round {step} {TASKS / (time.perf_counter() - start):.1f} tasks/s", flush=True)
