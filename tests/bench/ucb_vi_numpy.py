# UCB-VI, UCB-PO, PUCB and LDP-OB on RiverSwim (S=3, A=2, H=6) as one would write
# them in NumPy: the yardstick of bench_learners. Arguments: episodes to run, K
# that is planned for, then --po, --pucb or --ldp-ob, and --central or --local
# (each count is a binary-tree counter, vectorised over cells, or every user adds
# noise), --gaussian for Gaussian noise instead of Laplace noise at epsilon = 1,
# --unary for optimised unary encoding. The noise is NumPy's own: not exact.
import math, sys, time
import numpy as np

S, A, H = 3, 2, 6
runs, K = int(sys.argv[1]), int(sys.argv[2])
central, local, po = "--central" in sys.argv, "--local" in sys.argv, "--po" in sys.argv
pucb, ob = "--pucb" in sys.argv, "--ldp-ob" in sys.argv
gaussian, unary = "--gaussian" in sys.argv, "--unary" in sys.argv
rng = np.random.default_rng(1)
P = np.zeros((S, A, S))
for s in range(S):
    P[s, 0, max(0, s - 1)] = 1.0
P[0, 1] = [0.4, 0.6, 0.0]
P[1, 1] = [0.05, 0.6, 0.35]
P[2, 1] = [0.0, 0.4, 0.6]
cumulated = P.cumsum(axis=2)
R = np.zeros((S, A))
R[0, 0], R[2, 1] = 0.005, 1.0

L = max(1, math.ceil(math.log2(K)))
log1 = math.log(6 * S * A * K * H / 0.1)
lc = 0.02 * math.sqrt(2 * math.log(4 * S * A * K * H / 0.1))
b = 6.0 * H * (1 if local else L)
terms = K if local else L
E = 0.0
if central or local:
    E = 0.001 * (math.sqrt(b * terms * log1) if gaussian else b * math.sqrt(8 * terms * log1))
sigma = math.sqrt(b / 2)  # rho = 1
q = 1 / (1 + math.exp(1 / (2 * H)))
spread = (1 + H) * lc
if po:
    spread = lc + H * 0.02 * math.sqrt(4 * S * log1)
if pucb:
    spread = 0.02 * (H + 1) * math.sqrt(2 * math.log(K * H / 0.1))
if ob:
    spread = lc + 0.02 * H * math.sqrt(14 * S * log1)
eta = math.sqrt(2 * math.log(A) / (H * H * K))
mix = np.full((H, S, A), 1.0 / A)
SA = H * S * A
dim = 2 * SA + SA * S
exact = np.zeros((L + 1, dim))
noisy = np.zeros((L + 1, dim))
total = np.zeros(dim)
ones = np.zeros((H, S * A * S))


def optimistic(h, N, C, M, V):
    if pucb:
        n = np.maximum(1.0, N[h])
        bonus = spread / np.sqrt(np.maximum(N[h] - E, 1.0)) + (1 + S * H) * (3 * E / n + 2 * E * E / n**2)
    elif ob:
        n = np.maximum(1.0, N[h] + 2 * E)
        bonus = spread / np.sqrt(n) + (4 * E + H * (S * E + 3 * E)) / n
    else:
        n = np.maximum(1.0, N[h] + E)
        bonus = spread / np.sqrt(n) + (3 * E + H * (S * E + 2 * E)) / n
    Q = np.clip(C[h] / n + (M[h] / n[:, :, None]) @ V - bonus, 0, H - h)
    return np.where(N[h] < max(2 * E, 1.0), 0.0, Q) if pucb else Q


def noise(size):
    return rng.normal(scale=sigma, size=size) if gaussian else rng.laplace(scale=b, size=size)


start = time.process_time()
for k in range(1, runs + 1):
    N = total[:SA].reshape(H, S, A)
    C = total[SA : 2 * SA].reshape(H, S, A)
    M = total[2 * SA :].reshape(H, S, A, S)
    V = np.zeros(S)
    pi = np.zeros((H, S), dtype=int)
    for h in range(H - 1, -1, -1):
        Q = optimistic(h, N, C, M, V)
        if po:
            V = (mix[h] * Q).sum(axis=1)
            mix[h] *= np.exp(-eta * Q)
            mix[h] /= mix[h].sum(axis=1)[:, None]
        else:
            pi[h] = Q.argmin(axis=1)
            V = Q.min(axis=1)
    leaf = np.zeros(dim)
    bits = rng.random((H, S * A * S)) < q if unary else None
    s = 0
    for h in range(H):
        a = int(rng.random() > mix[h, s, 0]) if po else pi[h, s]
        t = int(np.searchsorted(cumulated[s, a], rng.random(), side="right"))
        i = (h * S + s) * A + a
        leaf[i] += 1
        leaf[SA + i] += 1 - R[s, a]
        leaf[2 * SA + i * S + t] += 1
        if unary:
            bits[h, (s * A + a) * S + t] = rng.random() < 0.5
        s = t
    if unary:
        ones += bits
        counts = (ones - k * q) / (0.5 - q)
        costs = total[SA : 2 * SA] + leaf[SA : 2 * SA] + rng.laplace(scale=4 * H, size=SA)
        total = np.concatenate([counts.reshape(SA, S).sum(axis=1), costs, counts.ravel()])
        continue
    if not central:
        total = total + leaf
        if local:
            total += noise(dim)
        continue
    i = (k & -k).bit_length() - 1
    exact[i] = leaf + exact[:i].sum(axis=0)
    exact[:i] = 0
    noisy[i] = exact[i] + noise(dim)
    noisy[:i] = 0
    total = noisy.sum(axis=0)
print(runs / (time.process_time() - start))
