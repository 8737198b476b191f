"""Moves rows between executors by a hash of their key and prints how many a second arrive."""

import sys
import time

from pyspark.sql import SparkSession

rounds, millions, partitions = (int(word) for word in sys.argv[1:])
spark = SparkSession.builder.getOrCreate()
rows = spark.range(0, millions * 1_000_000, 1, partitions).selectExpr("id", "hash(id) AS key")
for step in range(rounds):
    start = time.perf_counter()
    rows.repartition(partitions, "key").write.format("noop").mode("overwrite").save()
    print(f"round {step} {millions / (time.perf_counter() - start):.3f} Mrows/s", flush=True)
spark.stop()
