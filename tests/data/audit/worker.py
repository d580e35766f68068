"""Workers that misbehave, for the audit's tests: worker.py KIND MARK, and a
program: worker.py daemon MARK RUNS."""
import os
import random
import struct
import sys
import time


def stray():
    """A child in a session of its own that would sleep on."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(0)
            os.close(1)
            time.sleep(600)
        os._exit(0)


def lines(kind, runs):
    if kind == "huge":
        return ["1" + "0" * 400 if k % 2 else "1e400" for k in range(runs)]
    return [str(random.randrange(8)) for _ in range(runs)]


def main():
    kind, done = sys.argv[1], 0
    inp, out = sys.stdin.buffer, sys.stdout.buffer
    if kind == "forever":
        while True:
            out.write(b"1\n" * 1000)
    if kind in ("daemon", "forks"):
        stray()
    if kind == "daemon":
        print("\n".join(lines(kind, int(sys.argv[3]))))
        return
    while len(head := inp.read(4)) == 4:
        runs = int(inp.read(struct.unpack(">I", head)[0]).split()[-1])
        body = ("\n".join(lines(kind, runs)) + "\n").encode()
        done += runs
        if kind == "silent" and done > 1000:
            time.sleep(600)
        if kind == "stderr":
            sys.stderr.write("noise on stderr\n" * runs)
        if kind == "dies" and done >= 5000:
            os.kill(os.getpid(), 11)
        if kind == "empty":
            body = b""
        if kind == "more":
            body *= 2
        out.write(struct.pack(">I", len(body)) + body)
        out.flush()


main()
