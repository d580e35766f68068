# UCB-VI on RiverSwim (S=3, A=2, H=6) as one would write it in NumPy: the
# yardstick of bench_learners. With --central each count is a binary-tree
# counter with Laplace noise (b = 6 H L/eps, eps = 1), vectorised over cells;
# with --local every user adds Laplace noise (b = 6 H/eps). --po is UCB-PO.
import math, sys, time
import numpy as np

S, A, H = 3, 2, 6
K = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
central = "--central" in sys.argv
local = "--local" in sys.argv
po = "--po" in sys.argv
rng = np.random.default_rng(1)
P = np.zeros((S, A, S))
for s in range(S):
    P[s, 0, max(0, s - 1)] = 1.0
P[0, 1] = [0.4, 0.6, 0.0]
P[1, 1] = [0.05, 0.6, 0.35]
P[2, 1] = [0.0, 0.4, 0.6]
R = np.zeros((S, A))
R[0, 0], R[2, 1] = 0.005, 1.0

L = max(1, math.ceil(math.log2(K)))
lc = 0.02 * math.sqrt(2 * math.log(4 * S * A * K * H / 0.1))
b = 6.0 * H * (1 if local else L)
terms = K if local else L
E = 0.001 * b * math.sqrt(8 * terms * math.log(6 * S * A * K * H / 0.1)) if central or local else 0.0
spread = (1 + H) * lc
if po:
    spread = lc + H * 0.02 * math.sqrt(4 * S * math.log(6 * S * A * K * H / 0.1))
eta = math.sqrt(2 * math.log(A) / (H * H * K))
mix = np.full((H, S, A), 1.0 / A)
dim = H * S * A * 2 + H * S * A * S
exact = np.zeros((L + 1, dim))
noisy = np.zeros((L + 1, dim))
total = np.zeros(dim)
start = time.process_time()
for k in range(1, K + 1):
    N = total[: H * S * A].reshape(H, S, A)
    C = total[H * S * A : 2 * H * S * A].reshape(H, S, A)
    M = total[2 * H * S * A :].reshape(H, S, A, S)
    V = np.zeros(S)
    pi = np.zeros((H, S), dtype=int)
    for h in range(H - 1, -1, -1):
        n = np.maximum(1.0, N[h] + E)
        bonus = spread / np.sqrt(n) + (3 * E + H * (S * E + 2 * E)) / n
        Q = np.clip(C[h] / n + (M[h] / n[:, :, None]) @ V - bonus, 0, H - h)
        if po:
            V = (mix[h] * Q).sum(axis=1)
            mix[h] *= np.exp(-eta * Q)
            mix[h] /= mix[h].sum(axis=1)[:, None]
        else:
            pi[h] = Q.argmin(axis=1)
            V = Q.min(axis=1)
    leaf = np.zeros(dim)
    s = 0
    for h in range(H):
        a = rng.choice(A, p=mix[h, s]) if po else pi[h, s]
        t = rng.choice(S, p=P[s, a])
        i = (h * S + s) * A + a
        leaf[i] += 1
        leaf[H * S * A + i] += 1 - R[s, a]
        leaf[2 * H * S * A + i * S + t] += 1
        s = t
    if not central:
        total = total + leaf
        if local:
            total += rng.laplace(scale=b, size=dim)
        continue
    i = (k & -k).bit_length() - 1
    exact[i] = leaf + exact[:i].sum(axis=0)
    exact[:i] = 0
    noisy[i] = exact[i] + rng.laplace(scale=b, size=dim)
    noisy[:i] = 0
    total = noisy.sum(axis=0)
print(K / (time.process_time() - start))
