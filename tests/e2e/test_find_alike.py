"""`doppel find` promises to show what the bot would say; here both look at the same issues."""

from __future__ import annotations

import re

import pytest

from tests.cli.finding import listed, run
from tests.e2e.harness import BOT, Doppel

REPORTS = (
    ("Export crashes with E1234", "The log says `ExportTimeout: disk 7` and E1234."),
    ("E1234 while exporting an album", "`ExportTimeout: disk 7`, every time."),
    ("Exporting crashes, E1234", "I get E1234 and `ExportTimeout: disk 7` when I export."),
    ("Album export stops with E1234", "There is `ExportTimeout: disk 7` in the console."),
)
AGAIN = ("Crash with E1234 when I export", "It says `ExportTimeout: disk 7` and E1234. #1 is another thing.")

Named = list[tuple[str, str]]
CHANCE = r"((?:very likely|likely|possibly|unlikely to be) the same \(\d+%\))"


@pytest.fixture(autouse=True)
def shell(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line has what the worker has."""
    settings = doppel.world.settings
    for name, value in {
        "APP_ID": str(settings.app_id),
        "PRIVATE_KEY": settings.private_key,
        "GITHUB_API_URL": settings.github_api_url,
        "DATABASE_URL": settings.database_url,
        "DOPPEL_HOME": str(settings.home),
    }.items():
        monkeypatch.setenv(name, value)


def bot_names(doppel: Doppel, number: int) -> Named:
    """What the bot's comment names, in order, each with its probability."""
    doppel.said(number)
    advice = next(one.body for one in doppel.sim.comments(doppel.repo, number) if one.author.login == BOT)
    shown = advice.partition("\n\nThis is a suggestion.")[0]
    names, chances = re.findall(r"^\d+\. \[(\S+)\]", shown, re.MULTILINE), re.findall(CHANCE, shown.lower())
    return list(zip(names, chances, strict=True))


def find_names(doppel: Doppel, number: int) -> Named:
    """What `doppel find` says that the bot would name."""
    told = run(f"{doppel.repo}#{number}").stdout
    named = [name for name, unasked in listed(told).items() if unasked]
    chances = dict(re.findall(rf"^ +\d+ (\S*#\d+) .*\n +• {CHANCE}", told.lower(), re.MULTILINE))
    return [(name, chances[name]) for name in named]


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ("min_confidence: 0", ["#3", "#2", "#4"]),
        ("min_confidence: 0\nmax_candidates: 2", ["#3", "#2"]),
        ("min_confidence: 0\ninclude_closed: false", ["#3", "#4"]),
        ("min_confidence: 0.9", ["#3"]),
    ],
)
def test_doppel_find_names_what_the_bot_names(doppel: Doppel, settings: str, names: list[str]) -> None:
    doppel.configure(settings)
    for number, report in enumerate(REPORTS, 1):
        doppel.read_before(*report, author=f"user-{number}")
    doppel.sim.close_issue(doppel.repo, 2, "user-2", "completed")
    # It names one of them itself, of which the bot tells nobody.
    doppel.open(*AGAIN)
    bots = bot_names(doppel, 5)
    assert [name for name, _ in bots] == names
    assert find_names(doppel, 5) == bots
    # What came later is not named, and no more what was rejected.
    doppel.open(*REPORTS[2], author="eve")
    assert [name for name, _ in find_names(doppel, 5)] == names
    doppel.write(6, "/duplicates not #3", "eve")
    bots = bot_names(doppel, 6)
    assert "#3" not in dict(bots)
    assert find_names(doppel, 6) == bots
