#!/usr/bin/env python3
"""docs/experiments/expert.md from the lines of measured runs.

Arguments: the assay program, then files of JSON lines (missing ones are left
out). Budgets are asked of the program; nothing is computed about privacy here.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

NAMES = {"cartpole": "CartPole", "acrobot": "Acrobot",
         "lunarlander": "LunarLander", "hiv-dt20": "HIV"}
METHODS = ["dp-sgd", "selective", "prefixes"]
T95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 10: 2.262}


def read(paths):
    rows = []
    for path in paths:
        if os.path.exists(path):
            with open(path) as f:
                rows += [json.loads(line) for line in f if line.strip()]
    return rows


def pick(rows, **want):
    return [r for r in rows if all(r[k] == v for k, v in want.items())]


def mean(values):
    return statistics.fmean(values) if values else None


def interval(values):
    """Mean and half width of the 95 % interval (Student's t)."""
    n = len(values)
    if n < 2:
        return mean(values), 0.0
    half = T95.get(n, 2.0) * statistics.stdev(values) / math.sqrt(n)
    return mean(values), half


def cell(rows, low, high):
    """Returns as a fraction of the open learner's: 0 is random. A run that
    could release nothing counts as 0."""
    if not rows:
        return "-", None
    values = [0.0 if r["return"] is None else (r["return"] - low) /
              (high - low) for r in rows]
    m, half = interval(values)
    return f"{m:.2f} ± {half:.2f}", m


def tables(rows):
    keys = sorted({(r["set"], r["width"], r["env"]) for r in rows},
                  key=lambda k: (k[1], k[0] != "varied", k[2] != "cartpole",
                                 k[2]))
    scores = []
    for group, width, env in keys:
        here = pick(rows, set=group, width=width, env=env)
        low = mean([r["return"] for r in here if r["method"] == "random"])
        print(f"\n### {NAMES[env]}, experts {group}, network {width} x {width}\n")
        print("| learner | epsilon | expert-level DP-SGD | selective, "
              "3/4 for prefixes | prefixes alone | transitions released |")
        print("|---|---|---|---|---|---|")
        for learner in sorted({r["learner"] for r in here} - {"-"},
                              reverse=True):
            mine = pick(here, learner=learner)
            high = mean([r["return"] for r in pick(mine, method="open")])
            for eps in sorted({r["epsilon"] for r in mine} - {"0"},
                              key=float):
                line = [learner.upper(), eps]
                found = {}
                for method in METHODS:
                    runs = pick(mine, method=method, epsilon=eps)
                    text, found[method] = cell(runs, low, high)
                    line.append(text)
                got = [r["transitions"] or 0 for r in
                       pick(mine, method="prefixes", epsilon=eps)]
                line.append(", ".join(str(g) for g in got))
                print("| " + " | ".join(line) + " |")
                scores.append((group, width, env, learner, eps, found))
        ends = ", ".join(
            f"{l.upper()} {mean([r['return'] for r in pick(here, learner=l, method='open')]):.1f}"
            for l in sorted({r["learner"] for r in here} - {"-"},
                            reverse=True))
        print(f"\nRandom actions: {low:.1f}; without privacy: {ends}.")
    return scores


def compare(scores):
    better = [s for s in scores if s[5]["dp-sgd"] is not None and
              max(s[5]["selective"], s[5]["prefixes"]) > s[5]["dp-sgd"] + 0.02]
    worse = [s for s in scores if s[5]["dp-sgd"] is not None and
             max(s[5]["selective"], s[5]["prefixes"]) < s[5]["dp-sgd"] - 0.02]
    print(f"\nOf {len(scores)} rows, the better of the two methods with "
          f"prefixes has a higher mean than expert-level DP-SGD by more than "
          f"0.02 in {len(better)}, a lower one in {len(worse)}.")
    for s in better:
        top = max(("selective", "prefixes"), key=lambda m: s[5][m])
        print(f"* {NAMES[s[2]]}, {s[0]}, {s[3].upper()}, width {s[1]}, "
              f"epsilon {s[4]}: {top} {s[5][top]:.2f}, "
              f"DP-SGD {s[5]['dp-sgd']:.2f}")


def epsilon(assay, rate, coin, sigma, count, delta):
    text = f"""neighbours: add-remove
unit: expert
events:
  - {{mechanism: rounded-gaussian, sigma: {sigma}, sampling: poisson,
     rate: {rate}, coin: {coin}, count: {count}}}
"""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        out = subprocess.run([assay, "account", f.name, "--delta", delta,
                              "--json"], check=True, capture_output=True,
                             text=True).stdout
    return float(json.loads(out)["epsilon"])


def budgets(assay):
    print("\n## Printed and true budget of stage 2\n")
    print("The paper takes the public coin into the sampling rate (q = p b/m). "
          "A coin that everybody sees\ndoes not hide an expert: with "
          "probability p the loss is that of a step at rate b/m.\n")
    print("| experts | batch | p | noise | steps | delta | epsilon as printed "
          "(q = p b/m) | true epsilon |")
    print("|---|---|---|---|---|---|---|---|")
    for m, b, p, q, s, n, delta in [
            (3000, 128, "1/2", "8/375", 2, 1500, "1/30000"),
            (3000, 128, "1/2", "8/375", 1, 1500, "1/30000"),
            (3000, 128, "4/5", "64/1875", 2, 1500, "1/30000")]:
        printed = epsilon(assay, q, "1", s, n, delta)
        true = epsilon(assay, "16/375", p, s, n, delta)
        print(f"| {m} | {b} | {p} | {s} | {n} | {delta} | {printed:.2f} | "
              f"{true:.2f} |")
    print("\nAll budgets of the tables above are true ones: the ledger charged "
          "stage 1 and stage 2 as they ran.")


HEAD = """# Expert-level private learning

`make experiment-expert` (minutes) and `make experiment-expert-full` (hours). This page is made from the measured
runs in `expert.jsonl` by `expert_page.py`.

Experts are trained by PPO on variants of an environment, softened to p_min = 0.02, and play in the default
environment. *Varied*: eight base policies, 3000 experts. *Alike*: one base policy, 1000 experts. Numbers are returns
as a fraction of the same learner without privacy (0: random actions), three runs, mean and 95 % interval
(Student's t, so wide). All private methods have the same true budget (epsilon, delta = 1e-5), one expert
added or removed, over the generation of trajectories.

* *expert-level DP-SGD*: no stage 1; 300 steps on Poisson samples of the experts, rate 1/16.
* *selective*: 3/4 of epsilon for stable prefixes (normalised threshold), 600 steps behind a public coin of 1/2.
* *prefixes alone*: all of epsilon for stable prefixes, no noise in learning.

Hyper-parameters are the same for all cells of a method and were chosen on these simulators (about ten candidates on
CartPole, none on Acrobot); on private data a choice costs budget. A run in which nothing could be released counts as 0.
The second seed of everything but the noise is the number of the run.
"""

WHY = """
## What it shows

Expert-level DP-SGD is a stronger baseline here than in the paper. Three things make it so: the mean gradient of
eight transitions of an expert instead of one (the same sensitivity, less variance), a small network (1282 parameters
instead of 67,000: the noise's norm grows with the root of their number), Adam with an average of the iterates
(both free, after the release). The budget is accounted as what ran: no fixed-size batches, no p in the rate.

Three runs decide little: most intervals overlap. The whole experiment was run twice, the second time (shown) because the choice
of an expert's rows had changed; the first gave a higher mean in 4 rows and a lower one in 11. In both, one row had
intervals apart: CartPole, experts alike, CQL, epsilon 10, where prefixes alone were better. So the paper's order (selective
above DP-SGD throughout) is not reproduced; prefixes win where experts agree and the budget is large enough for long ones.

Stable prefixes depend on agreement. A prefix ends where its expert explores (2 % a step) or where experts differ: with
eight base policies the count falls to an eighth as soon as the bases part, with one base it stays. The threshold does
not depend on the number of experts, so more experts make prefixes longer. Prefixes cost nothing in dimensions: they
do not care how large the network is, and a handful of long ones is enough for a policy; a short one is not, and which
one comes is luck. That luck is the wide interval of the last columns.
"""


def main():
    rows = read(sys.argv[2:])
    print(HEAD, end="")
    print("\n## Returns")
    scores = tables(rows)
    compare(scores)
    print(WHY, end="")
    budgets(sys.argv[1])


main()
