"""gemmc's kernels from Python, without any package: ctypes on include/gemmc/gemmc.h and on what `gemmc build` wrote."""

import ctypes
import dataclasses
import json
import pathlib
from collections.abc import Callable

import numpy as np

from .errors import ToolError


class GemmcCall(ctypes.Structure):
    """gemmc_call of include/gemmc/gemmc.h."""

    _fields_ = [
        ("size_bytes", ctypes.c_uint64),
        ("a", ctypes.c_void_p),
        ("b", ctypes.c_void_p),
        ("c", ctypes.c_void_p),
        ("y", ctypes.c_void_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("packed", ctypes.c_void_p * 3),
        ("scratch", ctypes.c_void_p),
        ("scratch_bytes", ctypes.c_uint64),
        ("parallel", ctypes.c_void_p),
        ("epilogue", ctypes.POINTER(ctypes.c_void_p)),
    ]


MANIFEST_FORMAT = 1
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(GemmcCall))
PACK_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
ALIGNMENT = 64  # that packed operands want, and at which ONNX Runtime's tensors start


def aligned_bytes(count: int) -> np.ndarray:
    """`count` bytes that start at a multiple of ALIGNMENT."""
    memory = np.empty(count + ALIGNMENT, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + count]


def aligned_copy(array: np.ndarray) -> np.ndarray:
    copy = aligned_bytes(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class BoundCall:
    """A kernel with its arguments: calling it computes Y once more. Keeps the arrays alive.

    Operands that the library holds come from there.
    """

    def __init__(self, kernel: "Kernel", operands: "Operands", dims: list[int]):
        self._kernel = kernel
        packed_b = kernel.packed_b
        if packed_b is None and kernel.b is None and "storage=b:" in kernel.problem:
            raise ToolError(f"{kernel.problem} reads a narrower B, which the library does not hold")
        b = operands.b if kernel.b is None else kernel.b
        if packed_b is None and kernel.pack_b is not None:
            packed_b = kernel.packed(operands.b)
        c = operands.c if kernel.c is None else kernel.c
        held = kernel.epilogue or [None] * len(operands.epilogue)
        epilogue = [given if own is None else own for given, own in zip(operands.epilogue, held, strict=True)]
        scratch = aligned_bytes(kernel.scratch_bytes)
        self._arrays = (operands, b, packed_b, c, epilogue, scratch)
        self._dims = (ctypes.c_int64 * max(1, len(dims)))(*dims)
        self._epilogue = (ctypes.c_void_p * max(1, len(epilogue)))(*(array.ctypes.data for array in epilogue))
        self._call = GemmcCall(
            size_bytes=ctypes.sizeof(GemmcCall),
            a=operands.a.ctypes.data,
            b=b.ctypes.data,
            c=None if c is None else c.ctypes.data,
            y=operands.y.ctypes.data,
            dims=self._dims,
            epilogue=self._epilogue,
        )
        if kernel.scratch_bytes > 0:
            self._call.scratch, self._call.scratch_bytes = scratch.ctypes.data, scratch.nbytes
        if packed_b is not None:
            self._call.packed[1] = packed_b.ctypes.data
        self.pointer = ctypes.pointer(self._call)
        self.entry = kernel.entry

    def refused(self) -> Callable[[], None]:
        """A call that the kernel ends at once, because its struct is too short: what calling costs from here."""
        empty = ctypes.pointer(GemmcCall())
        entry = self.entry

        def call() -> None:
            if entry(empty) != 1:
                raise ToolError("a kernel took an empty call")

        return call

    def __call__(self) -> None:
        status = self.entry(self.pointer)
        if status != 0:
            raise ToolError(f"kernel {self._kernel.symbol} returned {status}, expected 0")


@dataclasses.dataclass
class Operands:
    """What one call reads and writes. `epilogue`: of the steps that read an operand, in their order; None where the
    library holds it."""

    a: np.ndarray
    b: np.ndarray
    y: np.ndarray
    c: np.ndarray | None = None
    epilogue: list[np.ndarray | None] = dataclasses.field(default_factory=list)

    def check(self) -> None:
        arrays = {"A": self.a, "B": self.b, "C": self.c, "Y": self.y}
        arrays |= {f"operand {i} of the epilogue": array for i, array in enumerate(self.epilogue)}
        for name, array in arrays.items():
            if array is not None and (array.dtype != np.float32 or not array.flags.c_contiguous):
                raise ToolError(f"{name} must be contiguous float32, found {array.dtype} with strides {array.strides}")


@dataclasses.dataclass
class Kernel:
    symbol: str
    problem: str
    dim_names: list[str]  # of the run-time dimensions, in the order of the call
    entry: ENTRY
    pack_b: PACK_ENTRY | None  # of a kernel that wants its constant B packed
    owner: object  # keeps the code mapped
    # What the library holds of the node's operands: B as it is or as the kernel wants it, C, and one entry, or None, for
    # each operand of the epilogue.
    b: np.ndarray | None = None
    packed_b: np.ndarray | None = None
    c: np.ndarray | None = None
    epilogue: list[np.ndarray | None] = dataclasses.field(default_factory=list)
    epilogue_tensors: list[str] = dataclasses.field(default_factory=list)  # of the model
    scratch_bytes: int = 0  # that each call lends

    def packed(self, b: np.ndarray) -> np.ndarray:
        """B as this kernel wants it, and every other of the same N, K and panel width."""
        result = aligned_bytes(self.pack_b(None, None))
        self.pack_b(b.ctypes.data, result.ctypes.data)
        return result

    def bind(self, operands: Operands, sizes: dict[str, int]) -> BoundCall:
        """`sizes`: what the named dimensions are in these arrays."""
        operands.check()
        missing = [name for name in self.dim_names if name not in sizes]
        if missing:
            raise ToolError(f"kernel {self.symbol} wants dimension '{missing[0]}', known are {sorted(sizes)}")
        return BoundCall(self, operands, [sizes[name] for name in self.dim_names])


class AheadOfTimeLibrary:
    """The shared library and manifest that `gemmc build` left in a folder."""

    def __init__(self, folder: pathlib.Path):
        path = folder / "manifest.json"
        if not path.exists():
            raise ToolError(f"{path} is not there: did `gemmc build` succeed?")
        self.manifest = json.loads(path.read_text())
        if self.manifest["format"] != MANIFEST_FORMAT:
            raise ToolError(f"{path} has format {self.manifest['format']}, expected {MANIFEST_FORMAT}")
        if self.manifest["shared_library"] is None:
            raise ToolError(f"`gemmc build` wrote no shared library into {folder}: is `cc` installed?")
        self._library = ctypes.CDLL(str(folder / self.manifest["shared_library"]))

    def kernels(self) -> dict[str, Kernel]:
        """Node name -> the kernel that serves it."""
        found = {}
        kernels = {kernel["symbol"]: kernel for kernel in self.manifest["kernels"]}
        for node in self.manifest["nodes"]:
            symbol = node["symbol"]
            packs_b, scratch_bytes = kernels[symbol]["packed_b_bytes"] > 0, kernels[symbol]["scratch_bytes"]
            if node["stride_count"] != 0:
                raise ToolError(f"node '{node['name']}' has {node['stride_count']} run-time strides, expected none")
            try:
                entry = ENTRY((symbol + "_call", self._library))
                pack_b = PACK_ENTRY((symbol + "_pack_b", self._library)) if packs_b else None
                b, packed_b, c = (self.weights(node[operand]) for operand in ("b", "packed_b", "c"))
                epilogue = [self.weights(operand["weights"]) for operand in node["epilogue"]]
                tensors = [operand["tensor"] for operand in node["epilogue"]]
            except AttributeError as error:
                raise ToolError(f"the library lacks a function that its manifest names: {error}") from None
            operands = (b, packed_b, c, epilogue, tensors, scratch_bytes)
            found[node["name"]] = Kernel(
                symbol, node["problem"], node["dims"], entry, pack_b, self._library, *operands
            )
        return found

    def weights(self, symbol: str | None) -> np.ndarray | None:
        """The values that the library holds under this name, as bytes; None for None."""
        if symbol is None:
            return None
        (count,) = (weights["bytes"] for weights in self.manifest["weights"] if weights["symbol"] == symbol)
        return np.ctypeslib.as_array((ctypes.c_uint8 * count).in_dll(self._library, symbol))


class JitLibrary:
    """libgemmc, which compiles kernels in this process."""

    def __init__(self, path: pathlib.Path, target: str = "host"):
        if not path.exists():
            raise ToolError(f"{path} is not there: run tools/build")
        self._library = ctypes.CDLL(str(path))
        signatures = {
            "gemmc_version": (ctypes.c_char_p, []),
            "gemmc_last_error": (ctypes.c_char_p, []),
            "gemmc_session_create": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]),
            "gemmc_session_kernel": (
                ctypes.c_int,
                [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
            ),
            "gemmc_kernel_get_entry": (ENTRY, [ctypes.c_void_p]),
            "gemmc_kernel_get_pack_b": (PACK_ENTRY, [ctypes.c_void_p]),
            "gemmc_kernel_scratch_bytes": (ctypes.c_size_t, [ctypes.c_void_p]),
            "gemmc_kernel_symbol": (ctypes.c_char_p, [ctypes.c_void_p]),
            "gemmc_kernel_dim_count": (ctypes.c_size_t, [ctypes.c_void_p]),
            "gemmc_kernel_dim_name": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t]),
        }
        for name, (result, arguments) in signatures.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self.version = self._library.gemmc_version().decode()
        self._session = ctypes.c_void_p()
        self._check(self._library.gemmc_session_create(target.encode(), ctypes.byref(self._session)))

    def _check(self, status: int) -> None:
        if status != 0:
            raise ToolError(f"libgemmc: {self._library.gemmc_last_error().decode()}")

    def kernel(self, description: str) -> Kernel:
        """Compiles a problem string or a JSON description; the session keeps the kernel for the whole process."""
        library, handle = self._library, ctypes.c_void_p()
        self._check(library.gemmc_session_kernel(self._session, description.encode(), ctypes.byref(handle)))
        names = [
            library.gemmc_kernel_dim_name(handle, i).decode() for i in range(library.gemmc_kernel_dim_count(handle))
        ]
        symbol = library.gemmc_kernel_symbol(handle).decode()
        entry, pack_b = library.gemmc_kernel_get_entry(handle), library.gemmc_kernel_get_pack_b(handle)
        scratch_bytes = library.gemmc_kernel_scratch_bytes(handle)
        return Kernel(symbol, description, names, entry, pack_b or None, library, scratch_bytes=scratch_bytes)
