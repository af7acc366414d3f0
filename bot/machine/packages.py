"""How to install a package that this program can do without."""

from __future__ import annotations

import shlex
import sys


def pip_install(*packages: str) -> str:
    """The command that installs packages where this program would find them.

    They are named themselves, and not as an extra of `doppel`: another program has that name on the package index, and
    whoever asks for `doppel[models]` in another environment would get that one.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])
