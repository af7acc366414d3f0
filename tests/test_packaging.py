"""What is installed is whole: the wheel has every file that the program reads, the image is made of what there is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest.mock import patch

import pytest
from werkzeug.wrappers import Response

from bot.platform.local import pip_install
from bot.platform.processes import ENVIRON, Supervisor
from bot.search.embedding.local_models import PACKAGE
from tests.calling import free_port
from tests.served import listening

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_wheel_has_every_file_of_the_packages() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    for package in ("bot", "handlers"):
        files = [path for path in (ROOT / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        data = [path.relative_to(ROOT / package) for path in files if path.suffix != ".py"]
        # A pattern that begins with **/ means every depth, which PurePath.match takes one level of.
        forgotten = [
            path for path in data if not any(path.match(one.removeprefix("**/")) for one in patterns.get(package, []))
        ]
        assert forgotten == []


def test_the_wheel_has_every_module() -> None:
    """Setuptools takes a folder for a package where it has an `__init__.py`, and leaves its modules out where not."""
    include = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    for package in ("bot", "handlers"):
        assert f"{package}*" in include
        folders = {path.parent for path in (ROOT / package).rglob("*.py")}
        assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_what_people_are_told_to_install_is_what_the_extras_say() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert extras["models"] == [PACKAGE]
    assert pip_install(PACKAGE).startswith(f"{sys.executable} -m pip install 'sentence-transformers>=")


def test_nobody_is_told_to_install_the_package_of_another_project_that_has_our_name() -> None:
    """Where this one is not installed, `pip install 'doppel[models]'` brings a stranger's program."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bot").rglob("*.py")]
    told = [(page.name, line) for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    assert [one for one in told if re.search(r"pip install[^|]*(?<!--no-binary) ['\"]?doppel(?![-\w])", one[1])] == []


def test_an_installed_simulator_knows_the_app_of_this_project() -> None:
    assert (ROOT / "bot" / "app.yml").read_bytes() == (ROOT / "app.yml").read_bytes()


def test_the_image_is_made_from_what_there_is_and_runs_as_nobody_special() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.M) for name in line.split()]
    assert {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], "pyproject.toml"} <= set(copied)
    assert all((ROOT / name).exists() and f"!{name}" in ignored for name in copied)
    (user,) = re.findall(r"^RUN useradd --uid (\d+) ", dockerfile, re.M)
    assert f"\nUSER {user}\n" in dockerfile[dockerfile.rindex("FROM ") :]


def test_every_way_to_start_a_process_gives_it_the_same_settings() -> None:
    dockerfile, procfile = ((ROOT / name).read_text(encoding="utf-8") for name in ("Dockerfile", "Procfile"))
    worker = procfile.partition("worker: ")[2]
    for name, value in ENVIRON.items():
        assert f"{name}={value}" in dockerfile and f"{name}={value} " in worker
    with patch("bot.platform.processes.subprocess.Popen") as started:
        Supervisor({"worker": ["doppel", "worker"]}, {"MALLOC_ARENA_MAX": "3"}).start()
    given = started.call_args.kwargs["env"]
    assert given == {**ENVIRON, "MALLOC_ARENA_MAX": "3"}, "a host's own setting is kept"


def test_every_host_gives_running_jobs_their_time_and_asks_the_port_that_is_there() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "deploy").glob("*.*")}
    least = 25
    for name, pattern in (
        ("compose.yaml", r"stop_grace_period: (\d+)s"),
        ("doppel.service", r"TimeoutStopSec=(\d+)"),
        ("fly.toml", r'kill_timeout = "(\d+)s"'),
        ("render.yaml", r"maxShutdownDelaySeconds: (\d+)"),
    ):
        assert int(re.findall(pattern, files[name])[0]) > least, name
    fly = tomllib.loads(files["fly.toml"])
    assert (fly["http_service"]["internal_port"], fly["mounts"][0]["destination"]) == (3000, "/data")
    assert (ROOT / "deploy" / fly["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert "}:3000" in files["compose.yaml"] and 'value: "3000"' in files["render.yaml"]
    assert (ROOT / "deploy" / "heroku" / "requirements.txt").read_text(encoding="utf-8").endswith("\n.\n")


def health_script() -> str:
    """What the container is asked by."""
    (line,) = re.findall(r"^HEALTHCHECK .+? CMD (.+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)
    script: str = json.loads(line)[2]
    return script


@pytest.mark.parametrize(
    ("first", "code"), [("doppel\0worker\0", 0), ("doppel\0serve\0", 1), ("gunicorn\0--workers\0003\0", 1)]
)
def test_a_container_that_is_a_worker_is_well_although_it_listens_nowhere(
    first: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "cmdline").write_text(f"/opt/doppel/bin/python\0{first}")
    script = health_script().replace("/proc/1/cmdline", str(tmp_path / "cmdline"))
    environ = {"PORT": str(free_port())}
    done = subprocess.run([sys.executable, "-c", script], env=environ, check=False, stderr=subprocess.DEVNULL)
    assert done.returncode == code


def test_a_container_behind_a_proxy_asks_itself_without_it(tmp_path: Path) -> None:
    (tmp_path / "cmdline").write_text("/opt/doppel/bin/python\0doppel\0serve\0")
    script = health_script().replace("/proc/1/cmdline", str(tmp_path / "cmdline"))
    away = f"http://127.0.0.1:{free_port()}"
    with listening(Response()) as address:
        environ = {"PORT": address.rpartition(":")[2], "HTTP_PROXY": away, "http_proxy": away}
        done = subprocess.run([sys.executable, "-c", script], env=environ, check=False, stderr=subprocess.DEVNULL)
    assert done.returncode == 0
