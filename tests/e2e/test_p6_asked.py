"""P4, P6, C3: what is named unasked, what is listed for who asks, and what is said of a closed issue."""

from __future__ import annotations

import re

from tests.e2e.harness import Doppel

TITLE = "Crash while exporting a page to PDF"
BODY = "Exporting raises `PdfRenderError: page {} has no boundary box` in renderPdfPage since 3.2."
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def reports(doppel: Doppel, count: int) -> None:
    """So many people report nearly the same; the last of them gets a comment where the bot speaks."""
    for number in range(1, count + 1):
        doppel.open(f"{TITLE}, part {number}", BODY.format(number), author=f"user-{number}")
        doppel.said(number)


def names(advice: str) -> list[str]:
    return re.findall(r"^\d\. \[(#\d+)\]", advice, re.MULTILINE)


def test_p4_p6_three_are_named_unasked_and_five_listed_for_who_asks(doppel: Doppel) -> None:
    doppel.configure("min_confidence: 0\n")
    reports(doppel, 7)
    named = names(doppel.advice(7))
    assert len(named) == 3
    assert "Unasked" not in doppel.advice(7)
    doppel.write(7, "/duplicates")
    listed = names(doppel.advice(7))
    assert len(listed) == 5 and listed[:3] == named
    said = "Unasked, the bot would have named " + ", ".join(f"`{name}`" for name in named) + ". That takes 0% or more."
    assert said in doppel.advice(7)
    assert doppel.advice(7).count("CONFIDENCE · open · ") == 5


def test_p6_who_asks_is_answered_where_the_bot_was_silent_and_that_counts_as_nothing_named(doppel: Doppel) -> None:
    doppel.configure("min_confidence: 1\n")
    reports(doppel, 7)
    assert doppel.said(7) == []
    doppel.write(7, "/duplicates")
    advice = doppel.advice(7)
    assert advice.startswith("<!-- doppel:advice v1 -->\n**The closest earlier issues:**\n\n1. [#")
    assert len(names(advice)) == 5
    assert "\n\nUnasked, the bot would have named none of them. That takes 100% or more.\n\n" in advice
    look = doppel.services.store.decisions.of_issue(doppel.repository.id, 7)[-1]
    assert look.outcome.speaks and not look.shown and look.evidence
    doppel.write(7, "/duplicates limit=2")
    assert len(names(doppel.advice(7))) == 2


def test_c3_of_a_closed_issue_it_is_said_when_and_by_what(doppel: Doppel) -> None:
    doppel.configure("min_confidence: 0\n")
    doppel.read_before(TITLE, BODY.format(7))
    pull = doppel.sim.open_issue(doppel.repo, "bob", "Draw the box", "", is_pull_request=True)
    doppel.sim.close_issue(doppel.repo, 1, "bob", "completed", closer=pull)
    day = doppel.sim.clock.now().date()
    doppel.settle()
    doppel.open(TITLE, BODY.format(7))
    link = "[#2](https://redirect.github.com/acme/app/pull/2)"
    assert f"CONFIDENCE · closed as completed on {day} by {link} · **possible regression** · " in doppel.advice(3)
    doppel.sim.reopen_issue(doppel.repo, 1, "bob")
    doppel.do.close_issue(doppel.repo, 1, "bob", "not_planned", closer=COMMIT)
    doppel.sim.faults.add("POST /graphql", 502, times=None)
    doppel.write(3, "/duplicates fresh")
    doppel.sim.faults.clear()
    assert f"CONFIDENCE · closed as not planned on {day} · " in doppel.advice(3), "the comment goes without it"
    doppel.write(3, "/duplicates fresh")
    link = f"[`0123456`](https://redirect.github.com/acme/app/commit/{COMMIT})"
    assert f"CONFIDENCE · closed as not planned on {day} by {link} · " in doppel.advice(3)
