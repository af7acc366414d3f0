"""Where the processes of one machine count: a folder of files, as prometheus_client's multiprocess mode has it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bot.machine.private_files import make_folder

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def count_together(home: Path) -> None:
    """Have this process and its children count in one folder, empty at first, unless the host has named another.

    To be called before anything imports prometheus_client, which looks for the folder then.
    """
    if FOLDER not in os.environ:
        folder = home / "counts"
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
        os.environ[FOLDER] = str(folder)
