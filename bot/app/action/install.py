"""Installs the program for a workflow. With the argument `key`, prints the key under which the cache keeps the program.

action.yml runs this file first, in a Python without any packages. The cache keeps the code compiled, because compiling
it in each run would take longer than everything else.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
JUDGE_REQUIREMENTS = Path(__file__).with_name("requirements-judge.txt")
PACKAGES = ("bot", "handlers")
# A workflow shows no pages and no demo, simulates no GitHub and trains no model.
LEFT_OUT = shutil.ignore_patterns("__pycache__", "simulator", "demo", "dashboard", "setup", "training")


def requirements(environ: Mapping[str, str]) -> list[Path]:
    return [REQUIREMENTS, *([JUDGE_REQUIREMENTS] if environ.get("DOPPEL_JUDGE_URL") else [])]


def key(environ: Mapping[str, str]) -> str:
    """A cache key that changes if the code, the requirements, or Python changes."""
    # The number of requirement files shows whether there is a judge. The files lie in `bot`, so the loop hashes them.
    digest = hashlib.sha256(f"{sys.version} {sys.base_prefix} {len(requirements(environ))}".encode())
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def install(program: Path, environ: Mapping[str, str]) -> None:
    """Put the requirements and our code into a new environment `program`. Raises CalledProcessError if pip fails."""
    shutil.rmtree(program, ignore_errors=True)
    venv.create(program, symlinks=True)
    python = program / "bin" / "python"
    pip = (sys.executable, "-I", "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--no-input")
    options = [option for path in requirements(environ) for option in ("--requirement", str(path))]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-compile", *options], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = program / "lib" / version / "site-packages"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, site_packages / package, ignore=LEFT_OUT)
    # pip would compile on one processor; `workers=0` uses all. With UNCHECKED_HASH, Python never reads the sources.
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(site_packages, quiet=2, workers=0, invalidation_mode=unchecked)


if __name__ == "__main__":
    if sys.argv[1:] == ["key"]:
        print(f"key={key(os.environ)}")
    else:
        install(Path(os.environ["RUNNER_TEMP"]) / "doppel" / "program", os.environ)
