"""The result in Markdown: whole where it fits, cut where an issue has no room, and saying what was left out (D8)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from bot.conversation.marker import SCAN, fingerprint
from bot.conversation.messages.catalogue import english, messages_for
from bot.conversation.render.escape import RepoLinks
from bot.domain.entities import BODY_MAX
from bot.domain.report import Reason, ReasonCode
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, GroupMember, ScanResult
from bot.quality.scanning.markdown import render_scan

LINKS = RepoLinks("acme/app")
AT = datetime(2024, 5, 6, tzinfo=UTC)
DAY = AT + timedelta(days=1)
# Every character of it has to be written in another way.
WORST = "$<>`*@#1" * 40


def group(number: int, members: int, title: str = "Crash") -> DuplicateGroup:
    """An original with some members, all of which say the same."""
    others = (BacklogIssue(number + place, title, "open", AT) for place in range(1, members + 1))
    return DuplicateGroup(
        BacklogIssue(number, title, "open", AT),
        tuple(GroupMember(entry, 0.7, (Reason(ReasonCode.WORDS, (title,)),) * 4) for entry in others),
        thumbs_up=3,
        thumbs_down=1,
        comments=1,
    )


def result(*groups: DuplicateGroup, closed: bool = False) -> ScanResult:
    return ScanResult(groups, 1_200, closed, 0.5)


def test_d8_a_group_shows_its_sums_and_each_member_its_confidence() -> None:
    body = render_scan(result(group(5, 2), closed=True), LINKS, DAY, english())
    assert SCAN.begins(body)
    assert "**1 group of issues that may report the same thing**, among 1,200 open and closed issues: 2 issues" in body
    assert "   - Open · reported 2024-05-06 · 3 issues, together 👍 3, 👎 1, 1 comment\n" in body
    assert "     - Likely the same (70%) · open · reported 2024-05-06\n     - Words in common: Crash\n" in body
    assert "left out" not in body.lower()
    assert body.endswith("\n\nChecked on 2024-05-07 00:00 UTC.\n")


def test_d8_it_fits_into_an_issue_whatever_is_in_it() -> None:
    for groups in ([group(1, 1_000, WORST)], [group(100 * place, 3, WORST) for place in range(1, 400)]):
        body = render_scan(result(*groups), LINKS, DAY, english())
        assert len(body) <= BODY_MAX
        assert "1. [#" in body, "the group that gains most is always there"


def test_d8_it_fits_whatever_a_repositorys_own_text_for_the_time_is() -> None:
    groups = result(*(group(10 * place, 2, f"A crash {place}") for place in range(1, 1_001)))
    for text in ("<" * 580 + "{time}", "as it was seen " * 35 + "{time}", "Duplicate " * 55 + "{time}"):
        body = render_scan(groups, LINKS, DAY, messages_for("en", {"checked": text}))
        assert len(body) <= BODY_MAX
        assert "1. [#" in body


def test_d8_what_is_left_out_is_counted() -> None:
    groups = [group(10 * place, 2, "A crash " * 12) for place in range(1, 1_001)]
    body = render_scan(result(*groups), LINKS, DAY, english())
    shown = len(re.findall(r"^\d+\. \[#", body, re.MULTILINE))
    assert 5 < shown < 1_000
    assert (
        f"for lack of space:** {1_000 - shown:,} groups with {2 * (1_000 - shown):,} issues that could be closed"
        in body
    )


def test_d8_members_that_are_left_out_are_counted() -> None:
    body = render_scan(result(group(1, 30)), LINKS, DAY, english())
    assert "\n   - and 10 more\n" in body


def test_d8_the_time_alone_is_no_reason_to_edit() -> None:
    one, other = (render_scan(result(group(5, 2)), LINKS, day, english()) for day in (DAY, DAY + timedelta(days=1)))
    assert fingerprint(one) == fingerprint(other) != ""
    assert fingerprint(one) != fingerprint(render_scan(result(group(6, 2)), LINKS, DAY, english()))


def test_c3_on_enterprise_numbers_stand_in_code() -> None:
    assert "1. `#5` Crash" in render_scan(result(group(5, 1)), RepoLinks("acme/app", True), DAY, english())
