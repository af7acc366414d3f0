"""Installs the program for a workflow into the runner's cache; `key` returns the key of the cache.

This file runs first, in a Python without any packages. The code is copied and compiled once, because compiling it in
each run would take longer than everything else.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PACKAGES = ("bot", "handlers")
# A workflow has no web process and no terminal, so it does not need these.
LEFT_OUT = shutil.ignore_patterns("__pycache__", "simulator", "demo", "dashboard", "setup", "training")


def key() -> str:
    """A cache key that changes with the code, the versions of packages, and Python."""
    digest = hashlib.sha256(f"{sys.version} {sys.base_prefix}".encode())
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def install(program: Path) -> None:
    """Make a virtual environment with the packages and the code. Raises CalledProcessError if pip fails."""
    shutil.rmtree(program, ignore_errors=True)
    venv.create(program, symlinks=True)
    python = program / "bin" / "python"
    pip = (sys.executable, "-I", "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--no-input")
    options = ("--quiet", "--no-deps", "--no-compile", "--requirement", str(REQUIREMENTS))
    subprocess.run([*pip, "install", *options], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = program / "lib" / version / "site-packages"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, site_packages / package, ignore=LEFT_OUT)
    # With all processors, unlike pip.
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(site_packages, quiet=2, workers=0, invalidation_mode=unchecked)


if __name__ == "__main__":
    if sys.argv[1:] == ["key"]:
        print(f"key={key()}")
    else:
        install(Path(os.environ["RUNNER_TEMP"]) / "doppel" / "program")
