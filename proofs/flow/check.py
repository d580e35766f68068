#!/usr/bin/env python3
"""Flow check, table-driven.

Every row of targets.tsv names a driver (drivers/NAME.c or a path), the source
that it includes as FLOW_SOURCE, and two edits of that source: an explicit and
an implicit leak. Frama-C computes on what every output of flow_main depends.
The source passes if no output depends on anything called private_* and some
public_* output depends on the tape; each leaky copy must be caught by the very
same test, through a public_* output, the ledger or the tape.
"""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WATCHED = re.compile(r"^(public_\w+|flow_tape|flow_ledger)\b")


def analyse(driver, source):
    """The dependencies of flow_main: {output: text of its sources}."""
    cpp = (f'-Iproofs/flow/include -I. -D_DEFAULT_SOURCE '
           f'-DFLOW_SOURCE=\\"{source}\\"')
    run = subprocess.run(
        ["frama-c", "-machdep", "gcc_x86_64", f"-cpp-extra-args={cpp}",
         "-lib-entry", "-main", "flow_main", "-eva-precision", "1",
         "-calldeps",
         driver],
        cwd=ROOT, capture_output=True, text=True, timeout=600)
    log = run.stdout + run.stderr
    if run.returncode != 0:
        raise RuntimeError(log[-1500:])
    if "Neither code nor" in log or "neither code nor" in log:
        raise RuntimeError("a function without body and contract:\n" +
                           "\n".join(l for l in log.splitlines()
                                     if "either code nor" in l))
    found = re.search(r"\[from\] entry point:\n(.*?)\n\[from\]", log,
                      re.S)
    if not found:
        raise RuntimeError("no dependencies of flow_main in the log")
    deps = {}
    # an entry begins with two blanks and a name; the rest is indented more
    for entry in re.split(r"\n  (?=\S)", "\n" + found.group(1)):
        left, sep, right = entry.partition("FROM")
        if sep:
            deps[" ".join(left.split())] = " ".join(right.split())
    return deps


def leaks(deps):
    return sorted(f"{out} <- {src}" for out, src in deps.items()
                  if WATCHED.match(out) and "private_" in src)


def check_clean(driver, source):
    deps = analyse(driver, source)
    bad = leaks(deps)
    if bad:
        return "leak: " + "; ".join(bad)
    if not any(out.startswith("public_") and "flow_tape" in src
               for out, src in deps.items()):
        return "vacuous: no public output depends on the tape"
    return None


def check_leak(driver, source, old, new, directory):
    with open(os.path.join(ROOT, source)) as f:
        text = f.read()
    if text.count(old) < 1:
        return f"the edit does not apply: {old}"
    copy = os.path.join(directory, "leaky_" + os.path.basename(source))
    with open(copy, "w") as f:
        f.write(text.replace(old, new))
    if not leaks(analyse(driver, copy)):
        return "a leaky copy was not caught: " + new
    return None


def rows():
    with open(os.path.join(HERE, "targets.tsv")) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def driver_of(name):
    return name if "/" in name else f"proofs/flow/drivers/{name}.c"


def checks(row, directory):
    name, source, old1, new1, old2, new2 = row
    driver = driver_of(name)
    yield "clean", lambda: check_clean(driver, source)
    yield "explicit leak", lambda: check_leak(driver, source, old1, new1,
                                              directory)
    yield "implicit leak", lambda: check_leak(driver, source, old2, new2,
                                              directory)


def sources(name, source):
    """The source of a target and the others of ours that its driver includes:
    a change in any of them makes the result stale."""
    with open(os.path.join(ROOT, driver_of(name))) as f:
        more = re.findall(r'^#include "([a-z_]+/\w+\.c)"', f.read(), re.M)
    return [source] + [m for m in more if m != source]


def digest(files):
    """SHA-256 of sources and of the headers of ours that they include."""
    out = "".join(subprocess.run(["gcc", "-I.", "-MM", f], check=True,
                                 capture_output=True, text=True).stdout
                  for f in files)
    names = sorted({w for w in out.replace("\\", " ").split()
                    if w.endswith((".c", ".h"))})
    total = hashlib.sha256()
    for name in names:
        with open(name, "rb") as f:
            total.update(f.read())
    return total.hexdigest()


def keep(results):
    """build/prove/flow.tsv, a row a target, for proofs/results.sh."""
    os.makedirs("build/prove", exist_ok=True)
    with open("build/prove/flow.tsv", "w") as f:
        for name, source, ok, total in results:
            files = sources(name, source)
            f.write(f"flow\t{name}\t{ok}\t{total}\t{' '.join(files)}\t"
                    f"{digest(files)}\n")


def main():
    only = set(sys.argv[1:])
    passed = failed = 0
    results = []
    with tempfile.TemporaryDirectory() as directory:
        for row in rows():
            if only and row[0] not in only:
                continue
            before = passed, failed
            for what, check in checks(row, directory):
                try:
                    problem = check()
                except (RuntimeError, subprocess.TimeoutExpired,
                        OSError) as e:
                    problem = str(e)
                passed += problem is None
                failed += problem is not None
                print(f"{'ok  ' if problem is None else 'FAIL'} "
                      f"{row[0]}: {what}" +
                      ("" if problem is None else f"\n     {problem}"),
                      flush=True)
            ok = passed - before[0]
            results.append((row[0], row[1], ok, ok + failed - before[1]))
    if not only:
        keep(results)
    print(f"flow: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
