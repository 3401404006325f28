"""When two float32 products agree: within twice the documented bound, since both sides round."""

import numpy as np


def allowed_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """2 ((K + 4) 2^-24 |A||B| + (K + 4) 2^-149) for each element of A B. The bound: docs/numbers.md."""
    steps = a.shape[-1] + 4
    magnitude = np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
    return 2 * (steps * 2.0**-24 * magnitude + steps * 2.0**-149)


def largest_difference(found: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> float:
    """The largest |found - expected| / allowed; at most 1 where they agree. NaN on one side only is infinitely far."""
    if found.shape != expected.shape:
        return np.inf
    # Equal infinities and two NaN agree.
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        difference = np.abs(found.astype(np.float64) - expected.astype(np.float64)) / allowed
    difference = np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))
    return float(difference.max(initial=0.0))
