"""Decay of Taylor & Green's vortex in space by a pseudo-spectral method: the source of taylor_green_3d.csv.

u = (sin x cos y cos z, -cos x sin y cos z, 0) in a periodic cube of 2 pi, viscosity 1/100. Fourier modes dealiased by
the 2/3 rule, Runge-Kutta of fourth order with the viscous terms integrated exactly. Prints time, kinetic energy and
dissipation over their means by volume. Usage: taylor_green_3d.py [points a side] [step] [end]
"""

import sys
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
dt = float(sys.argv[2]) if len(sys.argv) > 2 else 0.02
end = float(sys.argv[3]) if len(sys.argv) > 3 else 5.0
nu = 0.01

x = 2 * np.pi * np.arange(n) / n
X, Y, Z = np.meshgrid(x, x, x, indexing="ij")
u = np.array([np.sin(X) * np.cos(Y) * np.cos(Z), -np.cos(X) * np.sin(Y) * np.cos(Z), 0 * X])

k1 = np.fft.fftfreq(n, 1 / n)
k3 = np.fft.rfftfreq(n, 1 / n)
K = np.array(np.meshgrid(k1, k1, k3, indexing="ij"))
k2 = (K**2).sum(0)
over_k2 = K / np.where(k2 == 0, 1, k2)
keep = (np.abs(K) < n / 3).all(0)
weight = np.where((k3 == 0) | (k3 == n / 2), 1, 2)[None, None, :]


def forward(a):
    return np.fft.rfftn(a, axes=(1, 2, 3))


def backward(a):
    return np.fft.irfftn(a, s=(n, n, n), axes=(1, 2, 3))


def convection(v):
    """The part of u x curl u without divergence."""
    omega = backward(1j * np.cross(K, v, axis=0))
    c = forward(np.cross(backward(v), omega, axis=0)) * keep
    return c - K * (over_k2 * c).sum(0)


def report(t, v):
    e = weight * (np.abs(v) ** 2).sum(0) / n**6
    print(f"{t:.4f},{0.5 * e.sum():.9f},{nu * (k2 * e).sum():.9f}", flush=True)


v = forward(u) * keep
half = np.exp(-nu * k2 * dt / 2)
print("time,kinetic_energy,dissipation")
report(0.0, v)
steps = round(end / dt)
for step in range(1, steps + 1):
    a = convection(v)
    b = convection(half * (v + 0.5 * dt * a))
    c = convection(half * v + 0.5 * dt * b)
    d = convection(half**2 * v + dt * half * c)
    v = half**2 * v + dt / 6 * (half**2 * a + 2 * half * (b + c) + d)
    if round(step * dt / 0.25, 6) % 1 == 0:
        report(step * dt, v)
