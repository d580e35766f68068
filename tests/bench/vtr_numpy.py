# UCRL-VTR on RiverSwim (S=3, A=2, H=6) as one would write it in NumPy: the
# yardstick of bench_learners. Arguments: episodes to run, K that is planned for,
# then --printed (statistics phi phi' and phi V instead of counts) and --local
# (Gaussian noise at rho = 1 on every report). The noise is NumPy's own.
import math, sys, time
import numpy as np

S, A, H = 3, 2, 6
runs, K = int(sys.argv[1]), int(sys.argv[2])
printed, local = "--printed" in sys.argv, "--local" in sys.argv
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

root = math.sqrt(S)
bonus, ridge = 0.1, 1.0
sensitivity2 = 4.5 * sum((H - h) ** 4 for h in range(1, H)) if printed else 2.0 * (H - 1)
sigma = math.sqrt(sensitivity2 / 2) if local else 0.0
counts = np.zeros((H - 1, S, A, S))
Lambda = np.zeros((H - 1, S, A, S, S))
U = np.zeros((H - 1, S, A, S))
start = time.process_time()
for k in range(runs):
    shift = ridge + 2 * sigma * math.sqrt(S * k)
    beta = bonus * (math.sqrt(math.log(K) + math.log1p(k * S)) + math.sqrt(sigma * math.sqrt(k)))
    if printed:
        sym = Lambda + shift * np.eye(S)
        if local:  # the noise may leave a block indefinite: its eigenvalues are raised
            w, Q = np.linalg.eigh(sym)
            inverse = (Q / np.maximum(w, ridge)[..., None, :]) @ np.swapaxes(Q, -1, -2)
        else:
            inverse = np.linalg.inv(sym)
        theta = np.einsum("hsaij,hsaj->hsai", inverse, U)
    else:
        M = np.maximum(counts, 0.0)
        n = M.sum(axis=3)
    V = np.zeros((H + 1, S))
    pi = np.zeros((H, S), dtype=int)
    for h in range(H - 1, -1, -1):
        Q = R.copy()
        if h + 1 < H:
            phi = V[h + 1] / root
            if printed:
                wide = np.maximum(np.einsum("saij,i,j->sa", inverse[h], phi, phi), 0.0)
                Q += theta[h] @ phi + beta * (H - h) * np.sqrt(wide)
            else:
                norm2 = phi @ phi
                width2 = norm2 / (ridge + n[h] * norm2)
                Q += (M[h] @ phi) * root * width2 + beta * (H - h) * np.sqrt(width2)
        Q = np.clip(Q, 0, H - h)
        pi[h] = Q.argmax(axis=1)
        V[h] = Q.max(axis=1)
    s = 0
    for h in range(H):
        a = pi[h, s]
        t = int(np.searchsorted(cumulated[s, a], rng.random(), side="right"))
        if h + 1 < H:
            if printed:
                phi = V[h + 1] / root
                Lambda[h, s, a] += np.outer(phi, phi)
                U[h, s, a] += phi * V[h + 1, t]
            else:
                counts[h, s, a, t] += 1
        s = t
    if local and printed:
        Z = rng.normal(scale=sigma, size=Lambda.shape)
        Lambda += np.triu(Z) + np.swapaxes(np.triu(Z, 1), -1, -2)
        U += rng.normal(scale=sigma, size=U.shape)
    elif local:
        counts += rng.normal(scale=sigma, size=counts.shape)
print(runs / (time.process_time() - start))
