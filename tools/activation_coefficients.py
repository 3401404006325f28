#!/usr/bin/env python3
"""Prints the polynomial coefficients of compiler/halide_activations.cc: lowest power first.

Needs mpmath and numpy (PyPI), which nothing else here does. exp and tanh: Chebyshev interpolation, near minimax. GELU:
weighted least squares, the weights adapted until the largest errors are equal (Lawson's algorithm), because what
counts is the error of x * erfc(x / sqrt 2), not that of its logarithm.
"""
import math
import struct

import mpmath as mp
import numpy as np

mp.mp.dps = 60


def as_float32(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0].hex()


def show(title, coefficients, text):
    print(f"{title}\n  " + ", ".join(text(c) for c in coefficients))


def chebyshev(function, low, high, count):
    coefficients, error = mp.chebyfit(function, [low, high], count, error=True)
    return coefficients[::-1], error


def exp_remainder(r):
    return (mp.exp(r) - 1 - r) / r**2 if abs(r) > mp.mpf("1e-15") else mp.mpf(1) / 2 + r / 6


def tanh_remainder(z):  # in z = x^2
    if z < mp.mpf("1e-20"):
        return -mp.mpf(1) / 3
    x = mp.sqrt(z)
    return (mp.tanh(x) - x) / (z * x)


def lawson(function, weight, count, low, high, points=3000, rounds=200):
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos((2 * np.arange(points) + 1) * np.pi / (2 * points))
    values, weights = function(nodes), weight(nodes)
    basis = np.polynomial.chebyshev.chebvander((2 * nodes - (low + high)) / (high - low), count - 1)
    share = np.full(points, 1 / points)
    best = (math.inf, None)
    for _ in range(rounds):
        scale = np.sqrt(share) * weights
        fit = np.linalg.lstsq(basis * scale[:, None], values * scale, rcond=None)[0]
        errors = np.abs((basis @ fit - values) * weights)
        best = min(best, (errors.max(), fit), key=lambda pair: pair[0])
        share *= errors / errors.max()
        share /= share.sum()
    series = np.polynomial.chebyshev.Chebyshev(best[1], domain=[low, high])
    return series.convert(kind=np.polynomial.Polynomial).coef, best[0]


def main():
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")
    for title, count, text in (("exp, float32", 5, as_float32), ("exp, float64", 11, lambda c: float(c).hex())):
        coefficients, error = chebyshev(exp_remainder, -half_ln2, half_ln2, count)
        show(f"{title}: relative error {mp.nstr(error * half_ln2**2, 3)}", coefficients, text)
    limit = mp.mpf("0.625") ** 2
    for title, count, text in (("tanh, float32", 5, as_float32), ("tanh, float64", 13, lambda c: float(c).hex())):
        coefficients, error = chebyshev(tanh_remainder, 0, limit, count)
        show(f"{title}: relative error {mp.nstr(error * limit, 3)}", coefficients, text)
    tail = np.vectorize(lambda a: math.erfc(a / math.sqrt(2)))
    coefficients, error = lawson(lambda a: (-np.log(tail(a)) - a * a / 2) / a, lambda a: a * tail(a), 8, 1e-6, 5.6)
    show(f"gelu, float32: error of erfc {error:.2g}", coefficients, as_float32)


if __name__ == "__main__":
    main()
