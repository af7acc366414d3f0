"""How glibc's allocator gives memory back that a process has freed.

By default each thread gets an arena of its own, up to eight a processor, and arrays of up to 32 MB are cut from them.
What finds in several large repositories leave behind is then kept in pieces: a worker that had 170 MB in use held 770.
Threads that take turns at Python's lock need one arena only, and larger arrays are mapped singly (`mallopt(3)`).
"""

from __future__ import annotations

import ctypes
import os

# Of <malloc.h>: the parameter, and the variable by which a host sets it itself.
_ARENAS = (-8, "MALLOC_ARENA_MAX", 1)
_MAPPED = (-3, "MALLOC_MMAP_THRESHOLD_", 16 << 20)


def give_memory_back() -> None:
    """For this process, before it starts threads; a host's own setting is kept, and other C libraries are let be."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    for parameter, name, value in (_ARENAS, _MAPPED):
        if mallopt is not None and name not in os.environ:
            mallopt(parameter, value)
