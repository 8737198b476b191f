"""Loads a model server by the Open Inference Protocol (v2) over HTTP, and prints what came back in time.

    infer-load.py CLIENTS SECONDS INPUT [HEADER=VALUE...]

INPUT is the JSON of a request. The address and the model come from KUBEBENCH_ENDPOINT and KUBEBENCH_MODEL. Each client sends its
next request when the answer to the last one is there. Ends with 1 when a request failed.
"""

import http.client
import os
import sys
import threading
import time
import urllib.parse


def client(until, target, path, body, headers, took, failed):
    connection = http.client.HTTPConnection(target.hostname, target.port, timeout=30)
    while time.monotonic() < until:
        begun = time.monotonic()
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failed.append(f"status {answer.status}")
                continue
        except OSError as error:
            failed.append(str(error))
            connection.close()
            time.sleep(0.1)
            continue
        took.append(time.monotonic() - begun)


def main():
    clients, seconds, body = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    target = urllib.parse.urlsplit(os.environ["KUBEBENCH_ENDPOINT"])
    path = f"{target.path.rstrip('/')}/v2/models/{os.environ['KUBEBENCH_MODEL']}/infer"
    headers = {"Content-Type": "application/json", **dict(pair.split("=", 1) for pair in sys.argv[4:])}
    took, failed = [], []
    begun = time.monotonic()
    arguments = (begun + seconds, target, path, body, headers, took, failed)
    threads = [threading.Thread(target=client, args=arguments) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.monotonic() - begun
    took.sort()
    print(f"requests: {len(took)}")
    print(f"failed: {len(failed)}" + (f" (the first: {failed[0]})" if failed else ""))
    if took:
        print(f"throughput: {len(took) / elapsed:.2f} requests/s")
        for share in (50, 99):
            print(f"p{share}: {1000 * took[min(len(took) * share // 100, len(took) - 1)]:.3f} ms")
    sys.exit(1 if failed or not took else 0)


main()
