"""C2 and C3: one advisory comment an issue, from the signed webhook to the whole text."""

from __future__ import annotations

import re

import pytest

from bot.platform.metrics import REGISTRY
from tests.e2e.harness import Doppel

FIRST = ("Login fails with error E1234 on Safari", "It says `AuthTimeoutError` and E1234.")
AGAIN = ("Safari: login fails with E1234", "I get AuthTimeoutError with E1234 when I log in.")

WHOLE = """\
<!-- doppel:advice v1 -->
HEADLINE

1. [#1](https://redirect.github.com/acme/app/issues/1) Login fails with error E1234 on Safari
   - CONFIDENCE · open · reported DAY
   - Names in common: AuthTimeoutError, E1234

This is a suggestion. People decide, and nothing was changed.

<details>
<summary>How this was found, and how to correct it</summary>

**Searches**

QUERIES

**To correct this**

- `/duplicates not #1` – These two are different; neither is shown on the other again. (For the issue's author, and \
people with triage access.)
- `/duplicates of #1` – Close this as a duplicate. If that one is a duplicate too, its oldest open original is used. \
(For the issue's author, and people with triage access.)
- `/duplicates explain #1` – Show how that issue compares with this one. (For everybody.)
- `/duplicates search WORDS…` – Look again with words of your own. Quote words that belong together. (For everybody.)
- `/duplicates help` – Show this list. (For everybody.)

Checked on DAY.

</details>
"""


def without_queries(comment: str) -> str:
    """Which queries are asked is the finder's business, and tested there."""
    head, _, rest = comment.partition("**Searches**\n\n")
    queries, _, tail = rest.partition("\n\n**To correct this**")
    assert all(f" ({source})" in queries for source in ("the full-text index", "GitHub's semantic search"))
    return f"{head}**Searches**\n\nQUERIES\n\n**To correct this**{tail}"


def test_c2_an_issue_that_was_reported_before_gets_one_comment(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open("Dark mode for the settings page")
    doppel.open(*AGAIN)
    assert doppel.said(1) == doppel.said(2) == []
    (comment,) = doppel.said(3)
    assert without_queries(comment) == WHOLE


@pytest.mark.slow
def test_c3_who_sends_what_many_have_sent_is_shown_the_first_of_them_and_no_words_that_they_share(
    doppel: Doppel,
) -> None:
    for number in range(1, 7):
        doppel.open(*FIRST, author=f"person{number}")
        assert len(doppel.said(number)) == (number > 1)
    (comment,) = doppel.said(6)
    shown, _, _ = comment.partition("\n\nThis is a suggestion.")
    assert shown.split("\n\n", 1)[1] == "\n".join(
        f"{number}. [#{number}](https://redirect.github.com/acme/app/issues/{number}) {FIRST[0]}\n"
        "   - CONFIDENCE · open · reported DAY\n"
        "   - The same text, word for word"
        for number in range(1, 4)
    )


def test_c2_a_sub_issue_is_not_said_to_repeat_what_it_is_a_part_of(doppel: Doppel) -> None:
    whole = doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN, author="ann", parent=whole)
    assert doppel.said(2) == []
    doppel.write(2, "/duplicates")
    assert "No earlier issue" in doppel.advice(2)
    doppel.open(*AGAIN)
    assert "[#1]" in doppel.advice(3)


@pytest.mark.slow
def test_c2_silence_is_logged_with_how_near_the_nearest_came(doppel: Doppel, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "handlers.advisory_comment")
    doppel.configure("min_confidence: 1\n")
    doppel.open(*FIRST, author="ann")
    doppel.open("Login page: dark mode", "Please add it.")
    lines = [record.getMessage() for record in caplog.records if record.name == "handlers.advisory_comment"]
    assert lines[0] == f"{doppel.repo}#1: silent (none); nothing to compare, the threshold 1.00"
    near = re.escape(f"{doppel.repo}#2: silent (none); the best is ") + r"0\.\d\d, the threshold 1\.00"
    assert re.fullmatch(near, lines[1])
    assert doppel.said(1) == doppel.said(2) == []


@pytest.mark.slow
def test_f9_silence_is_logged_with_the_sources_that_failed(doppel: Doppel, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "handlers.advisory_comment")
    doppel.open(*FIRST, author="ann")
    doppel.sim.faults.add("GET /search/issues", 503, times=None)
    doppel.open("Login page: dark mode", "Please add it.")
    lines = [record.getMessage() for record in caplog.records if record.name == "handlers.advisory_comment"]
    assert lines[1].startswith(f"{doppel.repo}#2: silent (degraded: github-hybrid); the best is ")


@pytest.mark.slow
def test_c2_nothing_left_on_a_recheck_is_said(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    assert "Login fails" in doppel.advice(2)
    doppel.do.edit_issue(doppel.repo, 2, title="Dark mode for the settings page", body="Please add it.")
    assert doppel.advice(2) == (
        "<!-- doppel:advice v1 -->\n**Nothing left to show:** no other earlier issue is likely enough to be the same."
    )


def test_c2_a_recheck_edits_the_comment_and_answers_with_it_alone(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    (before,) = doppel.sim.comments(doppel.repo, 2)
    doppel.sim.close_issue(doppel.repo, 1, "triage-person", "completed")
    # The two are of different issues, and worked on side by side.
    doppel.settle()
    doppel.write(2, "/duplicates fresh")
    assert re.search(r"closed as completed on \S+ · \*\*possible regression\*\*", doppel.advice(2))
    assert [comment.id for comment in doppel.sim.comments(doppel.repo, 2) if comment.author.type == "Bot"] == [
        before.id
    ]


@pytest.mark.slow
def test_c2_a_recheck_brings_back_a_comment_that_a_person_rewrote(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    (written,) = doppel.sim.comments(doppel.repo, 2)
    doppel.write(2, "/duplicates fresh")
    said = doppel.said(2)
    doppel.do.edit_comment(written, "Never mind the robot.", "maintain-person")
    doppel.write(2, "/duplicates fresh")
    assert doppel.said(2) == said
    assert doppel.sim.comments(doppel.repo, 2)[0] is written


@pytest.mark.slow
def test_c2_a_comment_of_before_is_found_by_its_marker_after_a_transfer(doppel: Doppel) -> None:
    there = f"{doppel.owner}/other"
    doppel.sim.add_repository(there)
    doppel.sim.install(there)
    doppel.sim.write_file(there, ".github/doppel.yml", "mode: comment")
    # Before the one that is moved, which would not be told of a later one.
    doppel.sim.open_issue(there, "ann", *FIRST)
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    assert doppel.advice(2)
    moved = doppel.do.transfer_issue(doppel.repo, 2, there, "admin-person")
    comments = doppel.sim.comments(there, moved.number)
    assert len(comments) == 1, "the comment moved along, and a second one would be one too many"
    assert f"redirect.github.com/{there}/issues/1" in comments[0].body


@pytest.mark.slow
def test_c2_a_comment_of_before_an_installation_anew_loses_a_rejected_pair_too(doppel: Doppel) -> None:
    """What was stored is erased when the App is uninstalled, and the comment stands as it was."""
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    assert "Login fails" in doppel.advice(2)
    doppel.do.uninstall(doppel.owner)
    doppel.do.install(doppel.repo)
    doppel.write(1, "/duplicates not #2", "triage-person")
    assert doppel.said(1)
    assert "Login fails" not in doppel.advice(2)


@pytest.mark.slow
def test_how_long_a_delivery_takes_to_become_a_comment_is_measured_once(doppel: Doppel) -> None:
    def count() -> float:
        return REGISTRY.get_sample_value("doppel_comment_seconds_count") or 0.0

    doppel.read_before(*FIRST)
    before = count()
    doppel.open(*AGAIN)
    assert count() == before + 1
    doppel.write(2, "/duplicates")
    assert count() == before + 1, "an edit is no new comment"
    assert doppel.advice(2)
