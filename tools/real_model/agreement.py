"""How far float32 results may be from what they should be: docs/numbers.md."""

import math

import numpy as np

from .errors import ToolError

EPS = 2.0**-24


def allowed_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each element of A B, between two that both round: twice the documented error."""
    return 2 * expected(a, b, None, [])[1]


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


# At most so many times does a step of the epilogue make a difference of its argument larger.
STEEPNESS = {"silu": 1.1, "gelu": 1.13, "gelu_tanh": 1.13, "hard_swish": 1.5}


def apply_step(op: str, values: list[float], t: np.ndarray, operand: np.ndarray | None) -> np.ndarray:
    """A step of an epilogue in float64, as docs/numbers.md has it."""
    if op in ("bias", "residual"):
        return t + operand
    if op == "scale":
        return t * operand
    if op == "relu":
        return np.maximum(t, 0)
    if op == "leaky_relu":
        return np.where(t < 0, t * (values[0] if values else np.float32(0.01)), t)
    if op == "clip":
        return np.clip(t, values[0], values[1])
    with np.errstate(over="ignore"):
        if op == "gelu":
            return t * (1 + np.vectorize(math.erf, otypes=[np.float64])(t / math.sqrt(2))) / 2
        if op == "gelu_tanh":
            return t * (1 + np.tanh(math.sqrt(2 / math.pi) * (t + 0.044715 * t**3))) / 2
        if op == "sigmoid":
            return 1 / (1 + np.exp(-t))
        if op == "tanh":
            return np.tanh(t)
        if op == "silu":
            return t / (1 + np.exp(-t))
    if op == "hard_swish":
        return t * np.clip(t / 6 + 0.5, 0, 1)
    raise ToolError(f"the epilogue has a step '{op}' that the comparison does not know")


def expected(
    a: np.ndarray, b: np.ndarray, c: np.ndarray | None, steps: list[tuple[str, list[float], np.ndarray | None]]
) -> tuple[np.ndarray, np.ndarray]:
    """A B + C and the steps on it in float64, and how far a float32 kernel may be from that by docs/numbers.md."""
    terms = a.shape[-1] + 4
    t = np.matmul(a.astype(np.float64), b.astype(np.float64))
    magnitude = np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
    if c is not None:
        t = t + c
        magnitude = magnitude + np.abs(c.astype(np.float64))
    allowed = terms * EPS * magnitude + terms * 2.0**-149
    for op, values, operand in steps:
        before, t = t, apply_step(op, values, t, operand)
        if op == "scale":
            allowed = allowed * np.abs(operand)
        allowed = allowed * (max(1.0, abs(values[0])) if op == "leaky_relu" and values else STEEPNESS.get(op, 1.0))
        # One rounding, or the documented 4 units in the last place of an activation.
        is_curved = operand is None and op not in ("relu", "leaky_relu", "clip")
        allowed = allowed + (np.maximum(8 * EPS * np.abs(t), EPS * np.abs(before)) if is_curved else EPS * np.abs(t))
    return t, allowed
