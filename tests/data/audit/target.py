"""Mechanisms for the audit's tests: target.py KIND INPUT RUNS."""
import math
import os
import random
import struct
import sys
import time


def laplace(scale):
    u = random.random() - 0.5
    return -scale * math.copysign(1, u) * math.log(max(1 - 2 * abs(u), 1e-300))


def value(path):
    with open(path) as f:
        return float(f.read())


def lattice(x):
    return round(x * 1024) / 1024


def worker():
    inp, out = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = inp.read(4)
        if len(head) < 4:
            return
        path, runs = inp.read(struct.unpack(">I", head)[0]).decode().split()
        x = value(path)
        body = "".join(f"{lattice(x + laplace(0.5))}\n" for _ in range(int(runs)))
        out.write(struct.pack(">I", len(body)) + body.encode())
        out.flush()


def main():
    kind = sys.argv[1]
    if kind == "worker":
        return worker()
    if kind == "spread":
        # a sum, but twice the sensitivity when a number is large
        with open(sys.argv[2]) as f:
            numbers = [float(line) for line in f]
        x = sum(2 * y if y > 8 else y for y in numbers)
        for _ in range(int(sys.argv[3])):
            print(lattice(x + laplace(1)))
        return None
    x, runs = value(sys.argv[2]), int(sys.argv[3])
    random.seed(f"{kind} {x}")
    if kind == "good":
        for _ in range(runs):
            print(lattice(x + laplace(1)))
    elif kind == "bad":
        for _ in range(runs):
            print(lattice(x + laplace(0.5)))
    elif kind == "words":
        for _ in range(runs):
            y = x + laplace(0.3)
            print("high" if y > 0.5 else "low", *(["extra"] if y > 2 else []))
    elif kind == "forever":
        while True:
            print(lattice(x + laplace(1)))
    elif kind == "endless-line":
        while True:
            sys.stdout.write("1 " * 1000)
    elif kind == "silent":
        time.sleep(600)
    elif kind == "forks":
        if os.fork() == 0:
            os.close(1)
            time.sleep(600)
        for _ in range(runs):
            print(lattice(x + laplace(1)))
    elif kind == "stderr":
        for _ in range(runs):
            sys.stderr.write("noise on stderr\n")
            print(lattice(x + laplace(1)))
    elif kind == "dies":
        for _ in range(runs - 1):
            print(lattice(x + laplace(1)))
        sys.stdout.flush()
        os.kill(os.getpid(), 11)
    elif kind == "huge":
        for i in range(runs):
            print("1" + "0" * 400 if i % 3 == 0 else "1e400" if i % 3 == 1 else lattice(x + laplace(1)))
    elif kind == "garbage":
        for _ in range(runs):
            sys.stdout.buffer.write(os.urandom(12).replace(b"\n", b"") + b"\n")
    elif kind == "nothing":
        pass


main()
