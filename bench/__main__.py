"""`make bench`: every benchmark that takes a minute or less; each prints ratios against a baseline of the same run.

Made-up data by default; `--data FILE` gives those that can use it a file of real issues.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

# These take minutes, or install what others wrote: each is run by its own command, `python -m bench.NAME`.
BY_COMMAND = {"fairness", "load", "drain", "large_host", "newcomer"}
# These measure nothing by themselves.
SHARED = {"hosting", "gidgethub_app"}


def main() -> int:
    """Run each benchmark in a process of its own; the exit code is 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a file of issues, JSON Lines")
    data = parser.parse_args().data
    failed = 0
    for script in sorted(HERE.glob("*.py")):
        if script.name.startswith("__") or script.stem in BY_COMMAND | SHARED:
            continue
        takes_data = data is not None and '"--data"' in script.read_text(encoding="utf-8")
        print(f"\n== {script.stem} ==", flush=True)
        command = [sys.executable, str(script), *(["--data", str(data)] if takes_data else [])]
        failed += subprocess.run(command, check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
