"""Jit: this module compiles loops where numba is installed; without it they are slow, but do the same."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

COMPILED = find_spec("numba") is not None
numba: Any = import_module("numba") if COMPILED else None
# Of what is asked for most: a signed index may count from the end, and whether it does is looked at each time.
INDEX = np.uintp


def compiled(function: Any) -> Any:
    """Compile a function; what comes of it is kept beside the source where that can be written."""
    if numba is None:
        return function
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is nowhere to keep what was compiled
        return numba.njit(nogil=True)(function)
