"""C4 and H6: issues of other repositories are rejected where they were shown, and taken back."""

from __future__ import annotations

import pytest

from bot.storage.decisions import KEPT_DAYS
from tests.e2e.harness import Doppel

FIRST = ("Login fails with E1234 on Safari", "`AuthTimeoutError: token expired` after the update.")
AGAIN = ("Cannot log in on Safari: E1234", "I see `AuthTimeoutError: token expired` since today.")


@pytest.fixture
def lib(doppel: Doppel) -> str:
    """The name of a sibling, whose issues #1 and #2 the bot has shown on issue #1."""
    lib = f"{doppel.owner}/Lib"
    doppel.sim.add_repository(lib)
    with doppel.paused():
        doppel.sim.open_issue(lib, "ann", *FIRST)
        doppel.sim.open_issue(lib, "ann", FIRST[0] + " 17", FIRST[1])
    doppel.configure(f"siblings: [{lib}]\nmin_confidence: 0\n")
    doppel.open(*AGAIN)
    assert named(doppel, lib) == [1, 2]
    return lib


def named(doppel: Doppel, lib: str) -> list[int]:
    """Which of the sibling's issues the comment names."""
    advice = doppel.said(1)[0].partition("\n\n<details>")[0]
    return [number for number in (1, 2) if f"[{lib}#{number}](" in advice]


def link(lib: str, number: int) -> str:
    return f"[{lib}#{number}](https://redirect.github.com/{lib}/issues/{number})"


def reply(doppel: Doppel) -> str:
    """The latest answer to a command, without its marker."""
    return doppel.said(1)[-1].partition("-->\n")[2].strip()


def test_c4_a_siblings_issue_is_rejected_and_taken_back(doppel: Doppel, lib: str) -> None:
    assert f"- `/duplicates not {lib}#" in doppel.said(1)[0], "the comment says how"
    doppel.write(1, f"/duplicates not {lib.upper()}#1")
    assert (
        reply(doppel)
        == f"Noted: this issue and {link(lib.upper(), 1)} are different. That one will not be shown here again."
    )
    assert named(doppel, lib) == [2]
    doppel.write(1, f"/duplicates not https://github.com/{lib}/issues/2", "triage-person")
    assert "**Nothing left to show:**" in doppel.said(1)[0], "it was shown, so it cannot be that none was found"
    doppel.write(1, "/duplicates")
    assert named(doppel, lib) == []
    assert "**No earlier issue that looks like this one was found.**" in doppel.said(1)[0], (
        "as of this repository's own"
    )
    doppel.write(1, "/duplicates undo", "triage-person")
    assert named(doppel, lib) == [2]
    doppel.write(1, "/duplicates undo", "triage-person")
    assert named(doppel, lib) == [1, 2]
    assert reply(doppel) == f"Taken back: {link(lib.lower(), 1)} can be shown on this issue again."
    doppel.write(1, "/duplicates undo", "triage-person")
    assert reply(doppel) == "You have nothing to take back here."


def test_c4_each_persons_word_on_a_siblings_issue_stands_for_itself(doppel: Doppel, lib: str) -> None:
    doppel.write(1, f"/duplicates not {lib}#1")
    doppel.write(1, f"/duplicates not {lib}#1")
    assert reply(doppel) == f"This issue and {link(lib, 1)} were already noted as different."
    doppel.write(1, f"/duplicates not {lib}#1", "triage-person")
    doppel.write(1, "/duplicates undo")
    assert "Somebody else has noted the same" in reply(doppel)
    assert named(doppel, lib) == [2]
    doppel.write(1, "/duplicates undo")
    assert reply(doppel) == "You have nothing to take back here."
    doppel.write(1, f"/duplicates not {lib}#1")
    doppel.write(1, "/duplicates undo", "triage-person")
    assert named(doppel, lib) == [1, 2]


def test_c4_undo_takes_back_the_last_whichever_repository_it_was_about(doppel: Doppel, lib: str) -> None:
    doppel.open("Something else", "Entirely.")
    doppel.write(1, f"/duplicates not {lib}#1")
    doppel.sim.clock.advance(5)
    doppel.write(1, "/duplicates not #2")
    doppel.sim.clock.advance(5)
    doppel.write(1, f"/duplicates not {lib}#2")
    for expected in ([2], [2], [1, 2]):
        doppel.sim.clock.advance(5)
        doppel.write(1, "/duplicates undo")
        assert named(doppel, lib) == expected
        assert reply(doppel).startswith("Taken back: ")
    assert doppel.said(2)


def test_c4_an_old_comment_that_becomes_an_undo_takes_back_what_stands_above_it(doppel: Doppel, lib: str) -> None:
    comments = [doppel.write(1, "Hm.", login) for login in ("reporter", "triage-person")]
    doppel.write(1, f"/duplicates not {lib}#1")
    doppel.edit(comments[0], "/duplicates undo")
    assert reply(doppel) == "You have nothing to take back here."
    later = doppel.write(1, "Hm.", "triage-person")
    doppel.write(1, f"/duplicates not {lib}#1", "triage-person")
    doppel.edit(later, "/duplicates undo")
    assert "Somebody else has noted the same" in reply(doppel), "their own word stands below it"
    assert named(doppel, lib) == [2]


def test_c4_what_the_comment_names_can_be_rejected_though_the_look_is_kept_no_more(doppel: Doppel, lib: str) -> None:
    kept = doppel.services.store.decisions
    kept.prune(doppel.services.now() + (KEPT_DAYS + 1) * 86_400)
    assert kept.of_issue(doppel.repository.id, 1) == []
    doppel.write(1, f"/duplicates not {lib}#11")
    assert " was not shown here. " in reply(doppel)
    doppel.write(1, f"/duplicates not {lib.upper()}#1")
    assert reply(doppel).startswith("Noted: ")
    assert named(doppel, lib) == [2]


def test_c4_what_the_comment_named_before_can_be_rejected_though_it_names_it_no_more(doppel: Doppel, lib: str) -> None:
    """Who has read it before somebody else had it look again means what it said then."""
    doppel.write(1, "/duplicates search fonts of the ruler confidence=1")
    assert named(doppel, lib) == []
    doppel.write(1, f"/duplicates not {lib}#1")
    assert reply(doppel).startswith("Noted: ")


def test_h6_a_comment_that_is_gone_names_nothing(doppel: Doppel, lib: str) -> None:
    """Neither to the bot that has not heard of it yet, nor to one that has."""
    doppel.services.store.decisions.prune(doppel.services.now() + (KEPT_DAYS + 1) * 86_400)
    (ours,) = doppel.sim.comments(doppel.repo, 1)
    with doppel.worker_away():
        doppel.sim.comment(doppel.repo, 1, "reporter", f"/duplicates not {lib}#1")
        doppel.sim.delete_comment(ours, "triage-person")
    doppel.settle()
    assert " was not shown here. " in reply(doppel)
    doppel.write(1, f"/duplicates not {lib}#2")
    assert " was not shown here. " in reply(doppel)


def test_c4_a_command_on_a_siblings_issue_that_is_tried_again_goes_on_where_it_was(doppel: Doppel, lib: str) -> None:
    doppel.sim.faults.add("PATCH /repos/*/issues/comments/*", 502, times=4)
    doppel.write(1, f"/duplicates not {lib}#1")
    assert reply(doppel).startswith("Noted: ")
    assert named(doppel, lib) == [2]
    doppel.write(1, f"/duplicates not {lib}#2")
    doppel.sim.faults.add("PATCH /repos/*/issues/comments/*", 502, times=4)
    doppel.write(1, "/duplicates undo")
    assert named(doppel, lib) == [2], "one decision is taken back, however often it is tried"
    assert reply(doppel).startswith("Taken back: ")


def test_h6_what_was_considered_and_not_shown_cannot_be_rejected(doppel: Doppel, lib: str) -> None:
    doppel.configure(f"siblings: [{lib}]\nmax_candidates: 1\n")
    doppel.open(AGAIN[0] + " today", AGAIN[1])
    looks = doppel.services.store.decisions.of_issue(doppel.repository.id, 2)
    hidden = [one.number for one in looks[-1].evidence if one.repo and not one.shown]
    assert hidden, "it would not be seen otherwise"
    doppel.write(2, f"/duplicates not {lib}#{hidden[0]}")
    assert " was not shown here. " in doppel.said(2)[-1]
    assert doppel.said(1)


@pytest.mark.parametrize("other", ["{lib}#3", "{owner}/secret#1", "https://github.com/{lib}/issues/77"])
def test_h6_what_was_not_shown_cannot_be_rejected_whether_it_is_there_or_not(
    doppel: Doppel, lib: str, other: str
) -> None:
    doppel.sim.add_repository(f"{doppel.owner}/secret", private=True)
    with doppel.paused():
        doppel.sim.open_issue(f"{doppel.owner}/secret", "ann", *FIRST)
    doppel.write(1, f"/duplicates not {other.format(lib=lib, owner=doppel.owner)}")
    assert " was not shown here. Issues of other repositories can only be given where they were shown." in reply(doppel)
    assert named(doppel, lib) == [1, 2]


def test_h6_what_would_have_been_shown_cannot_be_rejected(doppel: Doppel) -> None:
    lib = f"{doppel.owner}/lib"
    doppel.sim.add_repository(lib)
    with doppel.paused():
        doppel.sim.open_issue(lib, "ann", *FIRST)
    doppel.configure(f"mode: shadow\nsiblings: [{lib}]\nmin_confidence: 0\n")
    doppel.open(*AGAIN)
    doppel.write(1, f"/duplicates not {lib}#1")
    assert " was not shown here. " in reply(doppel)


def test_c6a_it_goes_with_the_issue_and_with_the_repository(doppel: Doppel, lib: str) -> None:
    doppel.write(1, f"/duplicates not {lib}#1")
    store, repo_id = doppel.services.store, doppel.repository.id
    assert reply(doppel)
    assert store.verdicts.rejected_elsewhere(repo_id, 1) == {f"{lib}#1".lower()}
    store.forget_issue(repo_id, 1)
    assert store.verdicts.rejected_elsewhere(repo_id, 1) == set()
