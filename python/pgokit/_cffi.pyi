# Made at build time by make_cffi.py of the C headers; cffi has no types of its own for it.
from typing import Any

ffi: Any
