"""How to install an optional package."""

from __future__ import annotations

import shlex
import sys


def pip_install(*packages: str) -> str:
    """The command that installs packages where this program finds them.

    It does not name an extra such as `doppel[models]`: another program has that name on the package index.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])
