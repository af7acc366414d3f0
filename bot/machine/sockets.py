"""Where processes that speak to each other put their sockets: the path of one must be short, TMPDIR need not be."""

from __future__ import annotations

import os
import tempfile
from multiprocessing import util

from bot.errors import UserError

# Bytes of a path: 108 on Linux and 104 on macOS, one of them a zero.
_LONGEST = 103
# What multiprocessing adds to the folder: one of its own, which only its user can open, and a name.
_ADDED = len("/pymp-12345678/listener-12345678")
# The folder is made under a name that nobody can guess.
_SHORT = ("/tmp", "/var/tmp")  # noqa: S108


def use_short_paths() -> None:
    """Have multiprocessing put the sockets of this process and its children into a folder whose path is short enough.

    That of TMPDIR if it is, else another one. Everything else stays in TMPDIR. Raises UserError where there is none.
    """
    usual = tempfile.gettempdir()
    places = (usual, *(place for place in _SHORT if os.access(place, os.W_OK | os.X_OK)))
    fitting = [place for place in places if len(os.fsencode(place)) + _ADDED <= _LONGEST]
    if not fitting:
        raise UserError(f"TMPDIR: {usual} is too long a path for the sockets of processes; set it to a shorter one.")
    tempfile.tempdir = fitting[0]
    try:
        # It makes its folder when it is asked for the first time, and hands it on to its children.
        util.get_temp_dir()
    finally:
        tempfile.tempdir = usual
