"""C2, C3, F8, F9: the advisory comment, as a whole and in its parts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.conversation.commands.table import CommandOptions
from bot.conversation.config.schema import SOURCES
from bot.conversation.marker import fingerprint
from bot.conversation.render.comment import render_comment
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.report import QueryRun, SearchOutcome
from tests.render.samples import CHECKED_AT, candidate, considered, report, view


@pytest.mark.parametrize("asked", [{"words": ("big",)}, {"options": CommandOptions(confidence=0.9)}])
def test_c2_nothing_is_not_said_to_be_left_where_something_else_was_asked(asked: dict[str, Any]) -> None:
    body = render_comment(report(), view(had_candidates=True, **asked))
    assert "**No earlier issue that looks like this one was found.**" in body


def test_c2_who_asked_and_gets_no_list_is_told_what_comes_nearest_and_how_to_see_it() -> None:
    best = (considered(7, 0.19, kind="pull request"), considered(8, 0.179), considered(9, 0.1))
    nearest = "[#8](https://redirect.github.com/acme/app/issues/8), 18% likely the same"
    said = f"The closest is {nearest}; add `confidence=0.17` to the end of a command to see it."
    assert said in render_comment(report(considered=best), view(asked=True))
    assert "The closest is" not in render_comment(report(considered=best), view())
    assert "The closest is" not in render_comment(report(candidate(), considered=best), view(asked=True))
    assert "The closest is" not in render_comment(report(considered=(considered(8, 0.04),)), view(asked=True))


def test_c2_the_fingerprint_changes_with_what_is_said_and_not_with_the_time() -> None:
    body = render_comment(report(candidate()), view())
    later = render_comment(report(candidate()), view().__class__(CHECKED_AT + timedelta(hours=1)))
    assert body != later
    assert fingerprint(body) == fingerprint(later) != ""
    assert fingerprint(body) != fingerprint(render_comment(report(candidate(119)), view()))
    assert fingerprint("something else") == ""


@pytest.mark.parametrize(
    ("confidence", "likely", "says"),
    [
        (0.6, 0.6, "**Probably reported before:**"),
        (0.59, 0.6, "**Possibly related:**"),
        (0.59, 0.5, "**Probably reported before:**"),
        (0.9, 0.95, "**Possibly related:**"),
        (None, 0.6, "**Possibly related:**"),
    ],
)
def test_p4_the_headline_follows_the_first_candidate(confidence: float | None, likely: float, says: str) -> None:
    for asked in (False, True):
        found = report(candidate(confidence=confidence), candidate(119, confidence=0.99))
        assert f"-->\n{says}\n\n1. [#118]" in render_comment(found, view(likely=likely, asked=asked))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (SearchOutcome.DEGRADED, "**This could not be checked fully.** Nothing was found, but that says little"),
        (SearchOutcome.INCONCLUSIVE, "**This could not be checked:** there was nothing specific enough to search for."),
    ],
)
def test_f9_an_outage_is_never_presented_as_no_duplicates(outcome: SearchOutcome, expected: str) -> None:
    for had in (False, True):
        body = render_comment(
            report(
                outcome=outcome, problems=(SourceProblem("github-search", RemarkCode.OTHERS.of("no answer (502)")),)
            ),
            view(had_candidates=had),
        )
        assert expected in body
        assert "**What did not work**\n\n- github-search: no answer (502)\n" in body
        assert "looks like this one" not in body


def test_c3_f8_every_query_is_shown_that_all_sources_can_ask() -> None:
    most = {"github-search": 7, "discussions": 3, "pull-requests": 2, "siblings": 2}
    asked = [QueryRun(source, f"{source} {at}", at) for source in SOURCES for at in range(most.get(source, 1))]
    body = render_comment(report(candidate(), queries=tuple(asked)), view())
    assert [run.query for run in asked if f"`{run.query}` – " not in body] == []


@pytest.mark.parametrize(
    ("state", "reason", "offered"),
    [("open", None, True), ("closed", "duplicate", True), ("closed", "completed", False), ("closed", None, False)],
)
def test_c4_of_is_offered_only_where_it_can_be_done(state: str, reason: str | None, offered: bool) -> None:
    body = render_comment(report(candidate(12, state=state, state_reason=reason)), view())
    assert ("`/duplicates of #12`" in body) is offered
    assert "`/duplicates not #12`" in body


def test_t5_the_time_is_that_of_the_hosts_zone() -> None:
    local = CHECKED_AT.astimezone(ZoneInfo("Europe/Berlin"))
    body = render_comment(report(candidate()), view().__class__(local))
    assert "Checked on 2026-03-09 11:23 CET." in body
