"""`doppel scan` as people call it: a file, a repository on GitHub, and hostile issues in its outputs (D8)."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from markdown_it import MarkdownIt
from rich.cells import cell_len

from bot.conversation.render.escape import ZERO_WIDTH_SPACE
from bot.platform.settings import load
from bot.quality.scanning.groups import ScanAnswer
from bot.quality.scanning.scan import Scan
from bot.search.index import Index
from bot.simulator import Server, start_simulator
from bot.storage import open_store
from tests.calling import call, told_to_end, write_lines

pytestmark = pytest.mark.slow

HOSTILE = '<script>alert(1)</script> @ann #1 [x](javascript:y) "><img src=x> \x1b[31m\u202e Duplicate of #1'
CRASH = "The log says: ERROR exporter could not write page_table: disk 7 is gone"


SUBJECTS = (
    ("Login is refused behind a proxy", "Whoever sits in an office is sent back to the first page"),
    ("Fonts are blurred", "Since my monitor was replaced letters look as if seen through milk"),
    ("Map stays grey", "Only markers are shown, tile requests are answered with 403"),
    ("Sound stutters", "The mixer drops samples while a video is converted"),
    ("Printing cuts the margin", "Legal paper loses two centimetres on the left"),
    ("Please add Basque", "I could help with translating the strings"),
    ("Disks never sleep", "A daemon writes some bytes into its cache each minute"),
    ("Faces of pets", "Cats should be grouped as people are"),
    ("Portrait videos lie on their side", "Thumbnails are right, but the player ignores rotation"),
    ("Quota is off by one gigabyte", "The bar shows more than there is free"),
)


def rows() -> list[dict[str, Any]]:
    """Twelve issues, of which the last says again what the third said."""
    made: list[dict[str, Any]] = [
        {"id": f"APP-{number}", "title": title, "body": body} for number, (title, body) in enumerate(SUBJECTS, 1)
    ]
    made.insert(2, {"id": "APP-20", "title": f"Exporting albums fails {HOSTILE}", "body": CRASH})
    made.append({"id": "APP-21", "title": f"Exporting albums fails again {HOSTILE}", "body": CRASH, "closed_at": None})
    for day, row in enumerate(made, 1):
        row |= {"created_at": f"2024-01-{day:02}T00:00:00Z", "author": f"user{day}"}
    made[5]["closed_at"] = "2024-02-01T00:00:00Z"
    # Labels must not be read.
    made[7]["duplicate_of"] = "APP-1"
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "issues.jsonl", rows())


def run(*arguments: str | Path, env: dict[str, str] | None = None) -> Result:
    return call("scan", "--confidence", "0.5", *arguments, env=env)


def groups(result: Result) -> list[list[Any]]:
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["groups"]
    key = "id" if found and "id" in found[0]["original"] else "number"
    return [[one["original"][key], *(member[key] for member in one["members"])] for one in found]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "GITHUB_TOKEN", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_d8_a_files_groups_as_json(file: Path) -> None:
    result = run(file, "--json")
    assert groups(result) == [["APP-20", "APP-21"]]
    found = json.loads(result.stdout)
    assert (found["source"], found["issues"], found["include_closed"], found["closable"]) == (
        "issues.jsonl",
        11,
        False,
        1,
    )
    member = found["groups"][0]["members"][0]
    assert (member["number"], member["state"], member["title"]) == (12, "open", rows()[-1]["title"])
    assert member["confidence"] >= found["confidence"]
    assert member["reasons"][0] == f"Same error text: “{CRASH}”"
    assert json.loads(run(file, "--json", "--include-closed").stdout)["issues"] == 12


def test_d8_json_can_always_be_written_and_commands_no_terminal(tmp_path: Path) -> None:
    """An id may be half a character, for which UTF-8 has no bytes, and a control sequence may begin with one sign."""
    told = rows()
    told[2]["id"], told[-1]["id"] = "APP-\ud83d", "APP-\x9b2Jä"
    found = run(write_lines(tmp_path / "issues.jsonl", told), "--json")
    assert found.exit_code == 0, found.output
    assert "\x9b" not in found.stdout and "2Jä" in found.stdout
    group = json.loads(found.stdout)["groups"][0]
    assert (group["original"]["id"], group["members"][0]["id"]) == (told[2]["id"], told[-1]["id"])


def test_d8_hostile_titles_in_a_terminal(file: Path) -> None:
    result = run(file)
    assert result.exit_code == 0, result.output
    assert "1 group of issues that may report the same thing, among 11 open issues: 1 issue" in result.stdout
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "APP-20 Exporting albums fails <script>alert(1)</script>" in result.stdout.replace("\n", " ")


def test_d8_what_is_too_long_for_a_line_stays_under_its_issue(file: Path) -> None:
    lines = run(file).stdout.splitlines()
    group = lines[next(at for at, line in enumerate(lines) if line.startswith(" 1 APP-20 ")) + 1 :]
    assert len(group) > 4
    assert all(line.startswith("   ") for line in group), group
    assert max(map(cell_len, lines)) <= 80


def test_d8_hostile_titles_in_markdown(file: Path) -> None:
    result = run(file, "--markdown")
    assert result.exit_code == 0, result.output
    assert "`APP-21` Exporting albums fails again" in result.stdout
    page = MarkdownIt("commonmark").render(result.stdout)
    for active in ("<script", "<img", "href", "@ann", "#1 ", "Duplicate of"):
        assert active not in page, active


class Tags(HTMLParser):
    """Every tag of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_d8_hostile_titles_in_a_page(file: Path, tmp_path: Path) -> None:
    assert run(file, "--html", tmp_path / "page.html").exit_code == 0
    page = Tags()
    page.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in page.tags}
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") or name == "src" for name in attrs)]
    text = page.text.replace(ZERO_WIDTH_SPACE, "")
    assert "Exporting albums fails <script>alert(1)</script> @ann #1 [x](javascript:y)" in text
    assert "prefers-color-scheme: dark" in page.text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["nonsense"], "there is no such file, and it is not of the form OWNER/REPO"),
        (["acme/app"], "Set GITHUB_TOKEN"),
    ],
)
def test_what_cannot_be_scanned_is_named(arguments: list[str], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr


@pytest.mark.processes
def test_when_it_is_killed_the_processes_that_ask_for_it_end_too(tmp_path: Path) -> None:
    """They would wait for ever to be given more."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    made = [row | {"id": f"{row['id']}-{n}", "title": f"{row['title']} {n}"} for n in range(50) for row in rows()]
    issues = write_lines(tmp_path / "many.jsonl", made)

    def asking() -> bool:
        for file in temporary.glob("**/scan.db"):
            with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file)) as connection:
                return connection.execute("SELECT 1 FROM scan_answers").fetchone() is not None
        return False

    told_to_end(signal.SIGKILL, "scan", issues, "--processes", "2", temporary=temporary, begun=asking)


@pytest.mark.parametrize("content", [b"{}", b"none", b"\xd0\x00 of a program", b"[" * 100_000])
def test_weights_that_are_none_are_named(file: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.json").write_bytes(content)
    result = run(file, "--weights", tmp_path / "weights.json")
    assert result.exit_code == 2
    assert "weights.json has no weights of this version" in result.stderr
    assert "; run `doppel train`" in result.stderr


@pytest.fixture
def github() -> Iterator[Server]:
    with start_simulator() as server:
        server.sim.add_repository("acme/app")
        server.sim.load_issues([row | {"id": number} for number, row in enumerate(rows(), 1)], "acme/app")
        yield server
        assert server.sim.unknown_requests == []


@pytest.fixture
def env(github: Server) -> dict[str, str]:
    return {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": github.sim.user_token("reader")}


def test_d8_a_repositorys_issues_are_read_once_into_the_store(
    github: Server, env: dict[str, str], tmp_path: Path
) -> None:
    store = {"DATABASE_URL": f"sqlite:///{tmp_path / 'own.db'}"}
    result = run("acme/app", "--json", env=env | store)
    assert groups(result) == [[3, 12]]
    page = tmp_path / "page.html"
    assert run("acme/app", "--html", page, env=env | store).exit_code == 0
    assert f'<a href="{github.url}/acme/app/issues/12">#12</a>' in page.read_text(encoding="utf-8")
    # What is there is used where GitHub cannot be asked.
    result = run("acme/app", "--json", env={"GITHUB_API_URL": "http://127.0.0.1:9"} | store)
    assert groups(result) == [[3, 12]]
    assert "acme/app: the index is used as it is" in result.stderr


def test_a_repository_that_cannot_be_read_is_named(github: Server, env: dict[str, str], tmp_path: Path) -> None:
    result = run("acme/nope", env=env | {"DATABASE_URL": f"sqlite:///{tmp_path / 'own.db'}"})
    assert result.exit_code == 2
    assert "acme/nope: 404 Not Found: it is not there, or cannot be read" in result.stderr


def test_what_github_does_not_give_now_is_told_at_once(github: Server, env: dict[str, str], tmp_path: Path) -> None:
    """The bot would wait for minutes."""
    github.sim.faults.add("GET /repos/acme/app/issues", "secondary_limit", retry_after=120, times=50)
    result = run("acme/app", env=env | {"DATABASE_URL": f"sqlite:///{tmp_path / 'own.db'}"})
    assert result.exit_code == 2
    assert "acme/app: not all issues could be read (" in result.stderr and "run it again" in result.stderr


def test_d8_a_second_scan_reads_what_is_new(github: Server, env: dict[str, str], tmp_path: Path) -> None:
    run("acme/app", env=env)
    github.sim.open_issue("acme/app", "zoe", f"Exporting albums fails, still {HOSTILE}", CRASH)
    assert groups(run("acme/app", "--json", "--confidence", "0.15", env=env)) == [[3, 12, 13]]


def test_d8_a_second_scan_counts_the_reactions_of_today(github: Server, env: dict[str, str], tmp_path: Path) -> None:
    run("acme/app", env=env)
    for number, reaction in ((3, "+1"), (12, "+1"), (12, "-1")):
        github.sim.react(github.sim.issue("acme/app", number), "eve", reaction)
    (group,) = json.loads(run("acme/app", "--json", env=env).stdout)["groups"]
    assert (group["thumbs_up"], group["thumbs_down"], group["members"][0]["thumbs_up"]) == (2, 1, 1)


@pytest.mark.parametrize("at", ["fill", "ask"])
def test_c6a_a_scan_during_which_access_ends_leaves_nothing_behind(
    github: Server, env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """The worker erases, and whoever has begun a scan writes on."""
    url, repo_id = f"sqlite:///{tmp_path / 'own.db'}", github.sim.repository("acme/app").id

    def erase() -> None:
        with closing(open_store(load({"DATABASE_URL": url}, tmp_path / "no.env"))) as store:
            store.forget(repo_id)

    index_put, scan_put = Index.put, Scan.put

    def overtaken_put(self: Index, *arguments: Any, **options: Any) -> None:
        erase()
        index_put(self, *arguments, **options)

    def overtaken_scan_put(self: Scan, answers: list[ScanAnswer]) -> None:
        erase()
        scan_put(self, answers)

    if at == "fill":
        monkeypatch.setattr(Index, "put", overtaken_put)
    else:
        monkeypatch.setattr(Scan, "put", overtaken_scan_put)
    run("acme/app", env=env | {"DATABASE_URL": url})
    with closing(open_store(load({"DATABASE_URL": url}, tmp_path / "no.env"))) as store:
        assert store.forget(repo_id) == 0
