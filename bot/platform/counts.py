"""The folder in which a machine's processes share their metrics, for prometheus_client's multiprocess mode."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bot.platform.private_files import make_folder

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def count_together(home: Path) -> None:
    """Count metrics together with child processes, in one folder. Call this before importing prometheus_client."""
    if FOLDER_VARIABLE not in os.environ:
        folder = home / "counts"
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
        os.environ[FOLDER_VARIABLE] = str(folder)
