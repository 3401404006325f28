"""How long reading some bytes takes at least: plain vector loads, from one end to the other or in several streams."""

import ctypes
import pathlib
from collections.abc import Callable

import numpy as np

from .errors import ToolError

STREAMS = (1, 4, 8)


class Reader:
    def __init__(self, library: ctypes.CDLL):
        self._read = library.gemmc_read_bytes
        self._read.restype, self._read.argtypes = None, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32]

    @classmethod
    def find(cls, build: pathlib.Path) -> "Reader | None":
        """None where this CPU cannot."""
        path = build / "lib" / "gemmc_read_bytes.so"
        if not path.exists():
            raise ToolError(f"{path} is not there: run tools/build")
        library = ctypes.CDLL(str(path))
        return cls(library) if library.gemmc_can_read_bytes() else None

    def calls(self, array: np.ndarray) -> list[Callable[[], None]]:
        """One for each of STREAMS; each reads the whole array."""
        address, size, read = array.ctypes.data, array.nbytes, self._read
        return [lambda streams=streams: read(address, size, streams) for streams in STREAMS]

    def empty_call(self) -> Callable[[], None]:
        """Reads nothing: what calling costs from here."""
        return lambda: self._read(None, 0, 1)
