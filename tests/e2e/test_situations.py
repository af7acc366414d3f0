"""What public reports tell of such bots, as it would happen here: each told to the whole bot (C1–C6, P2, P3)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.decisions import DecisionOutcome
from bot.search.index import IndexedIssue
from bot.simulator.state.issues import Issue
from handlers.context import IssueContext
from tests.e2e.harness import Doppel
from tests.e2e.late import delivered, held_back
from tests.e2e.reports import AGAIN, FIRST

LINK = "[#{0}](https://redirect.github.com/acme/app/issues/{0})"
PART = """## Goal

Move `{0}` to the new package layout.

## Tasks

- [ ] move the files
- [ ] mend the imports
- [ ] keep the old names as aliases

## Acceptance criteria

- all tests pass
- nothing else changes

## Depends on

Phase 1.

## Notes

See the plan for the port.
"""
MODULES = ("config loader", "job queue", "mail sender", "billing", "search index", "importer", "renderer", "sign-in")


@pytest.mark.parametrize("project", ["doppel", "busy"])
def test_p3_the_parts_of_a_plan_are_not_each_other(project: str, request: pytest.FixtureRequest) -> None:
    """Eight sub-tasks of one member, alike but for one word in the title and the text; no form says the headings."""
    doppel: Doppel = request.getfixturevalue(project)
    doppel.sim.set_permission(doppel.repo, "member", "write")
    for module in MODULES:
        part = doppel.open(f"[Port] Phase 2: move module {module}", PART.format(module), "member")
        assert doppel.said(part.number) == []


def test_c4_two_who_reported_the_same_at_once_and_agree_leave_one_open(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.sim.clock.advance(60)
    doppel.open(*AGAIN, author="bob")
    assert "Crash while exporting to PDF" in doppel.advice(2)
    with doppel.worker_away():
        doppel.sim.comment(doppel.repo, 1, "ann", "/duplicates of #2")
        doppel.sim.comment(doppel.repo, 2, "bob", "/duplicates of #1")
    doppel.settle()
    assert [doppel.sim.issue(doppel.repo, number).state for number in (1, 2)] == ["open", "closed"]
    # The two are worked on side by side.
    (refused,) = doppel.said(1)
    assert "is newer than this one" in refused or "would make a circle" in refused
    assert "the discussion continues in" in doppel.said(2)[1]


UPLOADS = "![image](https://github.com/user-attachments/assets/{0}-4c1f-9a36-0f2b7d1e5c{1})\n"


def test_p3_addresses_of_screenshots_and_chinese_without_spaces_are_no_likeness(doppel: Doppel) -> None:
    shots = [UPLOADS.format("5b7e1c2d", serial) for serial in (10, 11, 12)]
    doppel.open(
        "导出文件后界面没有反应", f"点击导出按钮之后界面一直没有反应,需要重新启动。\n\n{shots[0]}{shots[1]}", "ann"
    )
    doppel.open("希望支持深色主题", f"晚上使用时界面太亮,希望可以切换颜色。\n\n{shots[0]}{shots[2]}", "bob")
    doppel.open("Window too small", f"{shots[1]}{shots[2]}", "cid")
    assert doppel.said(2) == doppel.said(3) == []


def test_p2_the_same_fault_in_chinese_in_other_words_is_named(doppel: Doppel) -> None:
    doppel.open("希望支持深色主题", "晚上使用时界面太亮,希望可以切换颜色。", "ann")
    doppel.open("导出PDF时程序崩溃", "点击“导出为PDF”按钮之后程序立刻崩溃,错误信息:RenderError 第7页。", "bob")
    doppel.open("导出PDF的时候软件闪退", "选择导出成PDF,软件马上就闪退了,提示 RenderError 第7页。", "cid")
    doppel.said(3)
    assert LINK.format(2) in doppel.advice(3)


def test_c2_five_edits_in_a_minute_leave_one_comment_and_what_was_objected(pair: Doppel) -> None:
    """Three only tick boxes, one says that nothing changed."""
    pair.open(*FIRST, author="cid")
    pair.write(3, "/duplicates not #1", "cid")
    pair.said(3)
    boxes = "- [ ] searched\n- [ ] latest version\n- [ ] no secrets"
    pair.do.edit_issue(pair.repo, 3, body=f"{FIRST[1]}\n\n{boxes}")
    for edited in range(1, 4):
        pair.sim.clock.advance(10)
        pair.sim.edit_issue(pair.repo, 3, body=f"{FIRST[1]}\n\n{boxes.replace('[ ]', '[x]', edited)}")
    issue = pair.sim.issue(pair.repo, 3)
    pair.do.emit("issues", "edited", issue.author, repository=issue.repository, issue=issue, changes={})
    comment, reply = pair.said(3)
    assert LINK.format(1) not in comment and "noted" in reply.lower()


def moved(doppel: Doppel, title: str, body: str | None, author: str, by: Any) -> Issue:
    """An issue of another repository that somebody moves here."""
    elsewhere = f"{doppel.owner}/elsewhere"
    if elsewhere not in doppel.sim.names:
        doppel.sim.add_repository(elsewhere)
    issue = doppel.sim.open_issue(elsewhere, author, title, body)
    return doppel.do.transfer_issue(elsewhere, issue.number, doppel.repo, by)


def test_c6_whoever_moves_an_issue_here_has_not_reported_it(doppel: Doppel) -> None:
    doppel.configure("ignore: {authors: [mover]}\n")
    doppel.read_before(*FIRST)
    by_person = moved(doppel, *AGAIN, "reporter", "mover")
    assert LINK.format(1) in doppel.advice(by_person.number)
    by_bot = moved(doppel, *AGAIN, "bob", doppel.sim.who("helper[bot]", "Bot"))
    assert LINK.format(1) in doppel.advice(by_bot.number)
    assert doppel.said(moved(doppel, "Crash while exporting to PDF", None, "mover", "ann").number) == []


def test_c6_two_whose_accounts_are_gone_are_not_one_author(doppel: Doppel) -> None:
    ghost = doppel.sim.who("ghost")
    doppel.open(*FIRST, author=ghost)
    with held_back(doppel) as deliver:
        doppel.open(*AGAIN, author=ghost)
        deliver()
    delivered(doppel, "opened", "ghost")
    assert LINK.format(1) in doppel.advice(2)
    doppel.write(2, "/duplicates explain #1")
    assert "same author" not in doppel.said(2)[1]


def _lock(doppel: Doppel) -> None:
    doppel.sim.lock_issue(doppel.repo, 2)


def _delete(doppel: Doppel) -> None:
    doppel.sim.delete_issue(doppel.repo, 2)


def _archive(doppel: Doppel) -> None:
    doppel.sim.archive_repository(doppel.repo)


@pytest.mark.parametrize("happens", [_lock, _delete, _archive])
def test_c1_what_is_closed_to_us_between_look_and_comment_is_noted_and_not_tried_again(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Doppel], None]
) -> None:
    doppel.read_before(*FIRST)

    really_find = IssueContext.find

    def find_and_wait(context: IssueContext, *arguments: Any, **options: Any) -> Any:
        report = really_find(context, *arguments, **options)
        happens(doppel)
        return report

    monkeypatch.setattr(IssueContext, "find", find_and_wait)
    tried = doppel.sim.faults.requests
    doppel.open(*AGAIN)
    assert doppel.sim.faults.requests - tried < 40
    if happens is not _delete:
        assert doppel.said(2) == []
        (look,) = doppel.services.store.decisions.of_issue(doppel.repository.id, 2)
        assert look.outcome.value == "left alone" and look.reason


WHAT = (
    "window",
    "printer",
    "album",
    "mail",
    "export",
    "import",
    "calendar",
    "sign-in",
    "cache",
    "upload",
    "theme",
    "map",
)
DOES = ("hangs", "is slow", "loses data", "shows nothing", "asks twice", "ignores settings", "crashes", "is too small")
WHEN = (
    "on start",
    "offline",
    "after an update",
    "with two screens",
    "at night",
    "on Windows",
    "on a tablet",
    "in French",
)


@pytest.mark.slow
def test_f9_the_original_of_years_ago_is_found_among_ten_thousand(doppel: Doppel) -> None:
    now = doppel.sim.now()
    rows = [
        IndexedIssue(
            number,
            f"{WHAT[number % 12].title()} {WHAT[number // 97 % 12]} {DOES[number // 12 % 8]} {WHEN[number // 96 % 8]}",
            f"Since build {number * 7919 % 10_007} it {DOES[number // 7 % 8]}. Code E{number}.",
            author=f"user-{number % 4_001}",
            created_at=(now - timedelta(days=3_000 - number / 3.5)).timestamp(),
            id=number,
        )
        for number in range(1, 10_001)
    ]
    rows[25] = rows[25]._replace(title=FIRST[0], body=FIRST[1])
    # Two hundred vectors a second are made, and what words find suffices.
    doppel.services.index.put(doppel.repository.id, rows, embed=False)
    doppel.repository.last_number = 10_000
    again = doppel.open(*AGAIN)
    assert f"1. {LINK.format(26)}" in doppel.advice(again.number)


def test_c6_many_issues_of_one_author_in_a_minute_do_not_keep_the_bot_busy(doppel: Doppel) -> None:
    doppel.configure("mode: comment\nper_author: 3\n")
    doppel.read_before(*FIRST)
    for _ in range(8):
        doppel.open(*AGAIN, author="newcomer")

    def left_alone() -> list[int]:
        looks = [doppel.services.store.decisions.of_issue(doppel.repository.id, number)[-1] for number in range(2, 9)]
        assert {look.reason for look in looks if look.outcome is DecisionOutcome.LEFT_ALONE} <= {
            "per_author: more than 3 issues of newcomer within an hour"
        }
        return [look.number for look in looks if look.outcome is DecisionOutcome.LEFT_ALONE]

    assert left_alone() == list(range(5, 9))
    doppel.write(9, "/duplicates", "newcomer")
    assert LINK.format(2) in doppel.advice(9)
    for left in (1, 0):
        doppel.world.let_pass(3600)
        doppel.settle()
        assert len(left_alone()) == left
    assert [LINK.format(1) in doppel.said(number)[0] for number in range(2, 5)] == [True, True, True]
    assert [number for number in range(5, 10) if doppel.said(number)]


def test_c6_types_associations_and_apps_decide_which_issues_are_looked_at(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    app = doppel.sim.who("helper[bot]", "Bot")
    doppel.configure("ignore: {associations: [collaborator, member], types: [task]}\nonly_types: [Bug]\nbots: on\n")
    doppel.open(*AGAIN, author=app, type="Bug")
    doppel.open(*AGAIN, author="write-person", type="Bug")
    doppel.open(*AGAIN, author="bob", type="Task")
    doppel.open(*AGAIN, author="bob")
    doppel.open(*AGAIN, author="cid", type="bug")
    assert [len(doppel.said(number)) for number in range(2, 7)] == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("bots", ["off", "on"])
def test_c6_a_label_that_an_app_sets_starts_a_look_where_the_settings_say_so(doppel: Doppel, bots: str) -> None:
    doppel.configure(f"only_labels: [triaged]\nbots: {bots}\n")
    doppel.open(*FIRST, author="ann", labels=["triaged"])
    doppel.open(*AGAIN)
    doppel.do.add_labels(doppel.repo, 2, "triaged", actor=doppel.sim.who("helper[bot]", "Bot"))
    assert len(doppel.said(2)) == (bots == "on")


def test_c3_the_same_words_of_another_surface_are_less_likely_and_the_comment_says_why(doppel: Doppel) -> None:
    for label in ("cli", "vscode"):
        doppel.sim.create_label(doppel.repo, label)
    doppel.open(*FIRST, author="ann", labels=["cli"])
    likely = []
    for number, label in enumerate(("cli", "vscode"), 2):
        doppel.open(*FIRST, author=f"author-{number}", labels=[label])
        (look,) = doppel.services.store.decisions.of_issue(doppel.repository.id, number)
        (about,) = [one.probability for one in look.evidence if one.number == 1]
        likely.append(about)
    assert likely[1] < likely[0]
    assert "But it is labelled cli, and this issue vscode" in doppel.advice(3)
    assert "labelled" not in doppel.said(2)[0]


@pytest.mark.parametrize(
    ("names", "milestone", "told"),
    [
        ("Version: v2.3.1, Python 3.11.2", None, "**may be fixed in v2.4.0**"),
        ("Version: 2.3.1", "2.5", "**may be fixed in 2\\.5**"),
        ("Version: 2.4", None, "**possible regression**"),
        ("Version: 2.3.9", None, "**possible regression**"),
    ],
)
def test_c3_what_a_later_release_than_the_one_named_has_mended_is_told(
    doppel: Doppel, names: str, milestone: str | None, told: str
) -> None:
    title, body = AGAIN
    original = doppel.open(*FIRST, author="ann")
    original.milestone = milestone
    for tag in ("v2.3.0", "v2.3.1", "v2.4.0-rc.1", "v2.4.0", "v2.5.0"):
        if tag.startswith("v2.4.0-"):
            doppel.sim.close_issue(doppel.repo, 1, "ann", closer="0123456789abcdef0123456789abcdef01234567")
        doppel.sim.clock.advance(3600)
        doppel.repository.releases.append((tag, doppel.sim.now()))
    doppel.settle()
    doppel.open(title, f"{body}\n\n{names}")
    assert told in doppel.advice(2)
