"""The console script: every error is a line that says what to do, and an exit code that scripts can rely on."""

from __future__ import annotations

import errno
import io
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import sqlalchemy as sa
from click.shell_completion import BashComplete

import bot.app.cli
from bot.app.cli import BESIDE, COMMANDS, EXIT_CODES, cli, main, module_of
from bot.domain.errors import InvalidArgument, NotFound, RateLimited
from tests.calling import call, write_lines


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (InvalidArgument("issue", "'x' is not of the form OWNER/REPO#NUMBER"), 2, "OWNER/REPO#NUMBER"),
        (NotFound("read acme/app#1", 404, "Not Found"), 2, "read acme/app#1: 404 Not Found"),
        (RateLimited("used up"), 3, "used up"),
        (sa.exc.OperationalError("SELECT 1", {}, Exception("password=hush")), 3, "database of DATABASE_URL failed"),
        (OSError(errno.ENOSPC, "No space left on device"), 3, "cannot write: No space left on device"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/of/doppel"), 70, "Doppel's own (FileNotFoundError)"),
        (ZeroDivisionError("hm"), 70, "a fault of Doppel's own (ZeroDivisionError)"),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: Exception, code: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(type(cli), "get_command", lambda *_: broken)
    ended = call("find")
    assert ended.exit_code == code and code in EXIT_CODES
    assert text in ended.stderr and ended.stdout == "" and "hush" not in ended.stderr


@pytest.mark.parametrize("encoding", ["utf-8:strict", "latin-1:strict", "ascii:surrogateescape"])
def test_what_the_terminal_cannot_show_is_written_out(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is no UTF-8, and letters that the terminal's encoding lacks, as in the locale C."""
    (file := tmp_path / ("5€ " + os.fsdecode(b"gr\xf6\xdfe") + ".yml")).write_text("mode: comment\n")
    name, errors = encoding.split(":")
    out = io.TextIOWrapper(io.BytesIO(), encoding=name, errors=errors, write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(SystemExit) as ended:
        main(["check-config", str(file)])
    # As figures are printed; click takes UTF-8 where the terminal is said to know ASCII alone.
    print("1–2 \udcf6")
    said = out.buffer.getvalue().decode(name, "replace")
    assert ended.value.code == 0 and "e.yml: all well" in said and said.endswith("\\udcf6\n")


@pytest.mark.processes
def test_a_pipe_that_is_closed_is_told_alike_where_it_is_named_as_a_file(tmp_path: Path) -> None:
    """As of `doppel replay FILE --out /dev/stdout | head`."""
    rows = [{"id": n, "title": f"It fails {n}", "created_at": "2024-01-01"} for n in range(9)]
    arguments = ["scan", "--processes", "1", "--html", "/dev/stdout", str(write_lines(tmp_path / "issues.jsonl", rows))]
    running = subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        env=os.environ | {"TMPDIR": str(tmp_path), "DOPPEL_EMBEDDING_MODEL": "none"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    said = running.stderr.read().decode()
    assert (running.wait(), "doppel:" in said) == (1, False), said


@pytest.mark.parametrize(("setting", "coloured"), [("1", False), ("", True)])
def test_no_color_is_heeded(
    setting: str, coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def red() -> None:
        click.secho("It is red.", fg="red")

    monkeypatch.setattr(type(cli), "get_command", lambda *_: red)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda stream, color: color is False)
    monkeypatch.setenv("NO_COLOR", setting)
    with pytest.raises(SystemExit):
        main(["find"])
    printed = capsys.readouterr()
    assert ("\x1b" in printed.out) == coloured


def completed(*words: str) -> list[str]:
    """What a shell is told that could stand in place of the last word."""
    complete = BashComplete(cli, {}, "doppel", "_DOPPEL_COMPLETE")
    return [complete.format_completion(one) for one in complete.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize("command", ["evaluate", "scan"])
def test_the_shell_completes_names_of_files(command: str) -> None:
    assert completed(command, "iss") == ["file,iss"]


def test_the_shell_is_told_of_no_fault_after_a_command_that_there_is_not() -> None:
    """It printed a fault of Doppel's own between what somebody was typing."""
    for words in (["evaluat", "--"], ["evaluat", "iss"], ["jobs", "retr", "--"]):
        completed(*words)


@pytest.mark.parametrize("command", [["replay", "--out", "answers.jsonl"], ["scan"], ["demo", "--issues"]])
def test_a_file_without_issues_is_no_success(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path / "home"))
    Path("issues.jsonl").touch()
    Path("answers.jsonl").write_text("of before")
    ended = call(*command, "issues.jsonl")
    assert ended.exit_code == 2
    assert "there is no issue in it" in ended.stderr
    assert Path("answers.jsonl").read_text() == "of before"


def test_a_file_that_cannot_be_written_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a folder's mode forbids others, it does not forbid root.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    (tmp_path / "issues.jsonl").touch()
    ended = call("evaluate", str(tmp_path / "issues.jsonl"), "--picture", str(tmp_path / "figures.svg"))
    assert ended.exit_code == 2
    assert f"the folder {tmp_path} does not exist or cannot be written to" in " ".join(ended.stderr.split())


@pytest.mark.parametrize("url", ["", "sqlite:///{home}/app.db"])
def test_a_place_that_cannot_hold_the_database_is_the_hosts_to_mend(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    monkeypatch.setenv("DOPPEL_HOME", str(home))
    monkeypatch.setenv("DATABASE_URL", url.format(home=home))
    monkeypatch.chdir(tmp_path)
    ended = call("index")
    assert ended.exit_code == 2
    said = ended.stderr
    assert said.startswith(f"doppel: {tmp_path / 'file'}: ") and said.endswith("check DOPPEL_HOME and DATABASE_URL\n")
    assert "Traceback" not in said


@pytest.mark.processes
def test_a_temporary_index_that_cannot_be_written_is_not_called_a_database_of_the_hosts(tmp_path: Path) -> None:
    rows = [{"id": n, "title": f"It fails {n}", "created_at": "2024-01-01"} for n in range(9)]
    file = write_lines(tmp_path / "issues.jsonl", rows)
    whole = [sys.executable, "-m", "bot", "scan", "--processes", "1", file.name]
    environ = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    # Bytes; the empty tables of an index take more.
    limited = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (102_400, 102_400))"
    begun = [sys.executable, "-c", f"{limited}; os.execv(sys.executable, sys.argv[1:])", *whole]
    ended = subprocess.run(begun, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert f"the index in {tmp_path} failed (" in ended.stderr
    assert ended.stderr.endswith("); change TMPDIR\n")


def as_another_user() -> list[str]:
    """What makes a command one of a user whom files can be closed to; root may look everywhere."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may look everywhere, and setpriv is not on this machine")
    without = "-dac_override,-dac_read_search"
    return ["setpriv", "--bounding-set", without, "--inh-caps", without]


def run_as_another_user(home: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **more, "DOPPEL_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])}
    whole = [*as_another_user(), sys.executable, "-m", "bot", *command]
    return subprocess.run(whole, cwd=home.parent, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.processes
def test_data_that_belong_to_another_user_are_no_fault_of_ours(tmp_path: Path) -> None:
    """An administrator who asks under their own login: the folder of the data is for its owner alone."""
    (home := tmp_path / "home").mkdir(mode=0o000)
    moved = run_as_another_user(home, "migrate-store", "--to", "postgresql://ann@127.0.0.1:9/doppel")
    assert moved.returncode == 2
    assert moved.stderr.rstrip(".\n").endswith(f"{home / 'app.env'}: Permission denied; run as the user that owns it")
    assert "Traceback" not in moved.stderr
    examined = run_as_another_user(home, "doctor", APP_ID="1")
    assert (examined.returncode, examined.stderr) == (1, "")
    assert str(home / "doppel.db") in examined.stdout and "Permission denied" in examined.stdout
    assert "Run as the file's owner, or grant access." in examined.stdout


@pytest.mark.processes
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")
def test_files_that_belong_to_another_user_in_a_folder_of_all_are_told_with_what_to_do(prepared_home: Path) -> None:
    """Both commands told only that a file cannot be opened, and to see that the folder can be written."""
    for name in ("doppel.db", "doppel-queue.db"):
        os.chown(prepared_home / name, 65534, 65534)
    listed = run_as_another_user(prepared_home, "jobs", APP_ID="1")
    assert (listed.returncode, listed.stderr) == (
        3,
        "doppel: the queue's database failed: the file cannot be opened; see `doppel doctor`\n",
    )
    examined = run_as_another_user(prepared_home, "doctor", APP_ID="1")
    assert examined.returncode == 1
    assert examined.stdout.count("Run as the file's owner, or grant access.") == 2


def test_what_stands_among_the_commands_is_one() -> None:
    """A reader finds a command by its name or in BESIDE, and nothing else in its place."""
    there = {f"bot.app.cli.{module.name}" for module in pkgutil.iter_modules(bot.app.cli.__path__)}
    assert there == {*map(module_of, COMMANDS), "bot.app.cli.shared"} and BESIDE.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Click keeps a command's option from its first call, which may have been another test's, without the group.
    monkeypatch.setattr(cli.get_command(click.Context(cli), name), "_help_option", None)
    for option in ("--help", "-h"):
        ended = call(name, option)
        assert ended.exit_code == 0
        assert f"Usage: doppel {name}" in ended.stdout


@pytest.mark.parametrize(
    ("given", "says"), [("serv", "Did you mean 'serve'?"), ("replai", "Did you mean 'replay'?"), ("xyzzy", "--help")]
)
def test_a_mistyped_command_is_told_the_nearest(given: str, says: str) -> None:
    ended = call(given)
    assert ended.exit_code == 2
    assert f"No such command '{given}'" in (printed := ended.stderr) and says in printed


def test_ctrl_c_ends_a_command_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def slow() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(cli), "get_command", lambda *_: slow)
    ended = call("find")
    assert ended.exit_code == 130 and 130 in EXIT_CODES
    assert ended.stderr == "doppel: interrupted\n"


def test_the_overview_shows_the_commands_by_who_uses_them() -> None:
    ended = call("--help")
    said = ended.stdout
    places = [said.index(f"{word}\n") for word in ("For maintainers:", "For hosts:", "For developers:")]
    assert places == sorted(places)
    assert (
        places[0] < said.index("  evaluate ") < places[1] < said.index("  doctor ") < places[2] < said.index("  demo ")
    )
