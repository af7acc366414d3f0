"""The example of docs/fusion.md runs as it is shown there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_fusing_chunks_prints_what_its_page_shows() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "fuse_chunks.py")], capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "fusion.md").read_text(encoding="utf-8")
    assert f"$ python docs/fuse_chunks.py\n{done.stdout}```" in page
