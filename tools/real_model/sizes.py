"""The sizes of a model's named dimensions, and arrays for tensors that a run of the model does not show."""

import numpy as np

from .errors import ToolError
from .products import ListedProduct, oriented_b


def learn_sizes(products: list[ListedProduct], values: dict[str, np.ndarray]) -> dict[str, int]:
    """The sizes of named dimensions, from the arrays that a run of the model has made."""
    sizes: dict[str, int] = {}
    for product in products:
        for tensor, shape in zip(product.tensors, product.shapes):
            if tensor not in values:
                continue
            for dim, size in zip(shape, values[tensor].shape, strict=True):
                if isinstance(dim, str) and sizes.setdefault(dim, size) != size:
                    raise ToolError(f"dimension '{dim}' is {sizes[dim]} and {size}")
    return sizes


def invent_missing(products: list[ListedProduct], values: dict[str, np.ndarray], sizes: dict[str, int]) -> None:
    """Random values for tensors of inner graphs, which a run of the model does not show."""
    random = np.random.default_rng(0)
    for product in products:
        for tensor, shape in zip(product.tensors, product.shapes):
            if tensor not in values:
                known = [sizes[dim] if isinstance(dim, str) else dim for dim in shape]
                values[tensor] = random.standard_normal(known, np.float32)
        y_shape = np.matmul(values[product.tensors[0]], oriented_b(product, values)).shape
        for tensor in product.added:
            if tensor not in values:
                values[tensor] = random.standard_normal(y_shape, np.float32)
