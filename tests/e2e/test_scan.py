"""D8 through the front door: `/duplicates scan`, its steps in the queue, and the one issue that shows the groups."""

from __future__ import annotations

import re

import pytest

from bot.conversation.marker import SCAN
from bot.conversation.messages.catalogue import english
from bot.simulator.state.issues import Issue
from tests.e2e.harness import BOT, Doppel

CRASH = ("Crash while exporting to PDF", "Exporting raises `PdfRenderError: page 7 is broken` in `export_pages`.")
AGAIN = ("Crash while exporting to PDF!", f"{CRASH[1]} Again.")
OTHER = ("Dark mode for the settings page", "Please add one, the page glares at night.")


@pytest.fixture
def backlog(doppel: Doppel) -> Doppel:
    """Two issues that say the same, which were filed while nobody was there to answer, and one other."""
    for author, (title, body) in (("ann", CRASH), ("bob", AGAIN), ("cem", OTHER)):
        doppel.said(doppel.open(title, body, author=author).number)
    return doppel


def body_of(issue: Issue) -> str:
    assert issue.body is not None
    return issue.body


def scans(doppel: Doppel) -> list[Issue]:
    """The bot's own issues."""
    return [issue for issue in doppel.sim.issues_of(doppel.repository) if issue.author.login == BOT]


def test_d8_a_maintainers_scan_is_answered_and_shown_in_one_issue(backlog: Doppel) -> None:
    comment = backlog.write(3, "/duplicates scan", "triage-person")
    assert backlog.said(3)[-1].partition("\n")[2] == (
        "Looking through 3 open issues in the background, which takes about 4 seconds. The result will be in an "
        f"issue of its own, “{english().scan_title()}”.\n"
    )
    assert backlog.reactions(comment) == ["eyes", "+1"]
    (shown,) = scans(backlog)
    assert shown.title == english().scan_title()
    assert SCAN.begins(body_of(shown))
    # Which words are rare enough to be named is for the tests of matching to say.
    said = re.sub(r"     - Words in .*\n", "", backlog.plain(body_of(shown)))
    assert said.partition("\n")[2] == (
        "**1 group of issues that may report the same thing**, among 3 open issues: 1 issue could be closed.\n\n"
        "Each group begins with its oldest issue, which the others may repeat. Within a group, every issue is "
        "similar to every other. Groups with the most to tidy up come first. This is a suggestion. People decide, "
        "and nothing was changed. Commands for the newer issues:\n\n"
        "- `/duplicates of #N` – Close this as a duplicate. If that one is a duplicate too, "
        "its oldest open original is used.\n"
        "- `/duplicates not #N` – These two are different; neither is shown on the other again.\n"
        "- `/duplicates scan` – Look through all open issues for groups that report the same thing.\n\n"
        "1. [#1](https://redirect.github.com/acme/app/issues/1) Crash while exporting to PDF\n"
        "   - Open · reported DAY · 2 issues, together 👍 0, 👎 0, 0 comments\n"
        "   - [#2](https://redirect.github.com/acme/app/issues/2) Crash while exporting to PDF!\n"
        "     - CONFIDENCE · open · reported DAY\n"
        "     - Same error text: “PdfRenderError: page 7 is broken”\n"
        "     - Names in common: PdfRenderError, export_pages\n"
        "\n"
        "Checked on DAY.\n"
    )


def test_d8_a_second_scan_edits_the_same_issue(backlog: Doppel) -> None:
    backlog.write(3, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    number = shown.number
    backlog.write(2, "/duplicates not #1", "triage-person")
    backlog.write(3, "/duplicates scan", "admin-person")
    (shown,) = scans(backlog)
    assert shown.number == number
    assert "**Nothing found:** among 3 open issues, no two are likely enough" in body_of(shown)
    said = backlog.said(3)
    assert said[-1].endswith(
        f"The result will be in [#{number}](https://redirect.github.com/acme/app/issues/{number}).\n"
    )
    backlog.said(2)


def test_d8_the_issue_is_found_again_by_its_marker_and_opened_again(backlog: Doppel) -> None:
    backlog.write(3, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    backlog.services.store.scan_issues.drop(backlog.repository.id)
    backlog.sim.close_issue(backlog.repo, shown.number, "maintain-person")
    # Anybody can write the marker.
    backlog.sim.open_issue(backlog.repo, "mallory", english().scan_title(), shown.body)
    backlog.write(3, "/duplicates scan", "maintain-person")
    (again,) = scans(backlog)
    assert (again.number, again.state) == (shown.number, "open")
    backlog.said(3)
    backlog.said(5)


def test_d8_the_bots_own_issue_is_never_answered_indexed_or_found(backlog: Doppel) -> None:
    backlog.write(3, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    assert backlog.said(shown.number) == []
    assert backlog.services.index.count(backlog.repository.id) == 3
    fresh = backlog.open("Exporting to PDF: PdfRenderError, possible duplicates in the backlog", CRASH[1], author="dan")
    assert f"#{shown.number}]" not in backlog.said(fresh.number)[0]
    backlog.said(3)


def test_d8_nor_is_it_where_somebody_has_written_it_anew(backlog: Doppel) -> None:
    """Its marker goes with the text, and a later scan puts it back."""
    backlog.write(3, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    backlog.do.edit_issue(backlog.repo, shown.number, body=f"Done: {CRASH[1]}", actor="maintain-person")
    backlog.do.close_issue(backlog.repo, shown.number, "maintain-person", "completed")
    assert backlog.said(shown.number) == []
    assert backlog.services.store.decisions.of_issue(backlog.repository.id, shown.number) == []
    assert backlog.services.index.count(backlog.repository.id) == 3
    with backlog.before_backfill():
        fresh = backlog.open(CRASH[0], f"{CRASH[1]} Possible duplicates in the backlog.", author="dan")
    assert f"#{shown.number}]" not in backlog.said(fresh.number)[0]
    backlog.write(3, "/duplicates scan", "maintain-person")
    assert scans(backlog) == [shown]
    assert SCAN.begins(body_of(shown))
    assert backlog.services.index.count(backlog.repository.id) == 4
    backlog.said(3)


def test_d8_nobody_is_pinged_and_no_issue_gets_a_back_link(backlog: Doppel) -> None:
    text = "Since the update `SpellError: no dictionary for de_CH` is logged at each start and umlauts are underlined."
    hostile = "Umlauts @ann #1 <b>x</b> [y](javascript:z) `PdfRenderError` Duplicate of #1 <!-- doppel:scan v1"
    backlog.open("Umlauts are underlined", text, author="dan")
    issue = backlog.open(hostile, text, author="eve")
    backlog.write(3, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    line = next(line for line in body_of(shown).splitlines() if f"issues/{issue.number})" in line)
    assert line.endswith(
        " @\u200bann #\u200b1 &lt;b&gt;x&lt;/b&gt; \\[y\\](javascript:z) \\`PdfRenderError\\` "
        "Duplicate\u200b of #\u200b1 &lt;!-- doppel:scan v1"
    )
    backlog.said(3)
    backlog.said(issue.number)


def test_d8_reactions_of_today_are_counted_though_github_tells_of_none(backlog: Doppel) -> None:
    backlog.sim.clock.advance(86_400)
    backlog.open("Sounds when a message arrives", "Please make them quieter.", author="dan")
    for number, person, reaction in ((1, "eve", "+1"), (1, "fay", "+1"), (2, "fay", "+1"), (2, "gil", "-1")):
        backlog.sim.react(backlog.sim.issue(backlog.repo, number), person, reaction)
    backlog.write(4, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    assert " · 2 issues, together 👍 3, 👎 1, " in body_of(shown)
    backlog.said(4)


def test_d8_where_reactions_cannot_be_read_those_of_the_index_count(backlog: Doppel) -> None:
    backlog.sim.faults.add("POST /graphql", 502, times=None)
    backlog.write(3, "/duplicates scan", "maintain-person")
    (shown,) = scans(backlog)
    assert " · 2 issues, together 👍 0, 👎 0, " in body_of(shown)
    backlog.said(3)
