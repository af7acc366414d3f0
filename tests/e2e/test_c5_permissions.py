"""C5: who may give which command, by the repository's real permissions."""

from __future__ import annotations

import pytest

from handlers.commands import limit
from tests.e2e.harness import Doppel

FIRST = ("Crash while exporting to PDF", "Exporting raises `PdfRenderError: page 7`.")
OTHER = ("Dark mode for the settings page", "Please add it.")

ANYBODY = "stranger"
ALLOWED = {
    "/duplicates": [ANYBODY, "read-person", "reporter", "triage-person"],
    "/duplicates explain #1": [ANYBODY, "reporter"],
    "/duplicates help": [ANYBODY],
    "/duplicates not #1": ["reporter", "triage-person", "write-person", "maintain-person", "admin-person"],
    "/duplicates mute": ["reporter", "triage-person"],
    "/duplicates unmute": ["reporter", "triage-person"],
    "/duplicates of #1": ["triage-person", "write-person", "maintain-person", "admin-person"],
}
FORBIDDEN = {
    "/duplicates not #1": ([ANYBODY, "read-person"], "the issue's author, and people with triage access"),
    "/duplicates mute": ([ANYBODY], "the issue's author, and people with triage access"),
    "/duplicates unmute": ([ANYBODY], "the issue's author, and people with triage access"),
    "/duplicates of #1": ([ANYBODY, "read-person", "reporter"], "people with triage access"),
    "/duplicates scan": ([ANYBODY, "reporter", "triage-person", "write-person"], "maintainers"),
}


@pytest.fixture
def two(doppel: Doppel) -> Doppel:
    doppel.sim.set_permission(doppel.repo, "read-person", "read")
    doppel.open(*FIRST, author="ann")
    doppel.open(*OTHER)
    return doppel


@pytest.mark.parametrize("command", ALLOWED)
def test_c5_who_may(two: Doppel, command: str) -> None:
    for login in ALLOWED[command]:
        assert two.reactions(two.write(2, command, login)) == ["eyes", "+1"], login
    two.said(2)


@pytest.mark.parametrize("command", FORBIDDEN)
def test_c5_who_may_not(two: Doppel, command: str) -> None:
    logins, who = FORBIDDEN[command]
    for login in logins:
        assert two.reactions(two.write(2, command, login)) == ["eyes", "-1"], login
        assert f" is for {who}." in two.said(2)[-1]
    issue = two.sim.issue(two.repo, 2)
    assert (issue.state, issue.labels) == ("open", [])
    assert two.services.store.verdicts.rejected(two.repository.id, 2) == set()
    assert not two.services.store.muted.is_muted(two.repository.id, 2)


def test_c5_an_edit_counts_with_the_editors_permission(two: Doppel) -> None:
    comment = two.write(2, "/duplicates of #1", ANYBODY)
    assert "is for people with triage access" in two.said(2)[0]
    two.edit(comment, "/duplicates of #1 ", "maintain-person")
    assert two.sim.issue(two.repo, 2).state == "open", "the command line did not change"
    two.edit(comment, "/duplicates of 1", "maintain-person")
    assert two.sim.issue(two.repo, 2).state == "closed"
    assert two.said(2)[0].partition("\n")[2].startswith("Closed: ")


@pytest.mark.parametrize(
    "quoting",
    [
        "```\n{}\n```",
        "> {}",
        "`{}`",
        "_{}_",
        "<!-- {} -->",
        "<code>{}</code>",
        "```\n{} <!-- so be it -->\n```",
        "```\n／duplicates of #1\n```",
        "```\n/duplicates <!-- so <!-- be it --> of #1\n```",
        "```\n/duplicates <!-- /duplicates --> of #1\n```",
        "```\n/duplicates <!-- so －－> be it --\u200e> of #1\n```",
        "`<!--`\n\n```\n/duplicates <!-- so --> of #1\n```",
        f"```\n/duplicates {'<!-- so <!-- be it -->' * 200} of #1\n```",
    ],
)
def test_c5_who_tidies_anothers_comment_gives_no_command_by_that(two: Doppel, quoting: str) -> None:
    comment = two.write(2, f"It was said:\n\n{quoting.format('/duplicates of #1')}\n", ANYBODY)
    two.edit(comment, "It was said:\n\n/duplicates of #1\n", "maintain-person")
    assert two.sim.issue(two.repo, 2).state == "open"
    # The author's own permission is asked for where they do it themselves.
    two.edit(comment, f"It was said:\n\n{quoting.format('/duplicates of #1')}\n", ANYBODY)
    two.edit(comment, "It was said:\n\n/duplicates of #1\n", ANYBODY)
    assert "is for people with triage access" in two.said(2)[0]
    # What they write themselves into another's comment is theirs.
    two.edit(comment, "It was said.\n\n/duplicates of 1\n", "maintain-person")
    assert two.sim.issue(two.repo, 2).state == "closed"
    two.said(2)


def test_c5_who_saves_anothers_comment_as_it_was_gives_no_command_by_that(two: Doppel) -> None:
    comment = two.write(2, "/duplicates of #1", ANYBODY)
    said = two.said(2)
    two.sim.clock.advance(60)
    comment.updated_at = two.sim.now()
    two.sim.emit(
        "issue_comment",
        "edited",
        two.sim.who("maintain-person"),
        repository=two.repository,
        issue=comment.issue,
        comment=comment,
        changes={},
    )
    two.settle()
    assert two.sim.issue(two.repo, 2).state == "open"
    assert two.said(2) == said


def test_c5_what_one_adds_to_anothers_comment_counts_though_it_begins_as_what_is_there(two: Doppel) -> None:
    comment = two.write(2, "/duplicates explain #1", ANYBODY)
    before = two.said(2)
    two.edit(comment, "/duplicates explain #1\n/duplicates", "maintain-person")
    assert two.said(2) != before
    assert two.reactions(comment) == ["eyes", "+1"]


def test_c5_who_makes_place_in_anothers_comment_does_not_give_what_was_too_much(two: Doppel) -> None:
    five = "\n".join(f"/duplicates explain #{number}" for number in range(11, 16))
    comment = two.write(2, f"{five}\n/duplicates of #1", ANYBODY)
    two.edit(comment, f"{five.partition(chr(10))[2]}\n/duplicates of #1", "maintain-person")
    assert two.sim.issue(two.repo, 2).state == "open"
    two.said(2)


def test_c5_undo_is_ones_own_or_a_triagers(two: Doppel) -> None:
    two.write(2, "/duplicates not #1", "reporter")
    two.write(2, "/duplicates undo", ANYBODY)
    assert two.said(2)[-1].endswith("You have nothing to take back here.\n")
    two.write(2, "/duplicates undo", "triage-person")
    assert "Taken back" in two.said(2)[-1]
    two.write(2, "/duplicates of #1", "triage-person")
    two.sim.set_permission(two.repo, "triage-person", "read")
    two.write(2, "/duplicates undo", "triage-person")
    assert "`/duplicates of #N` is for people with triage access." in two.said(2)[-1]
    assert two.sim.issue(two.repo, 2).state == "closed"


def test_c5_a_flood_is_answered_once(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "COMMANDS_LIMIT", 3)
    for _ in range(3):
        assert two.reactions(two.write(2, "/duplicates", ANYBODY)) == ["eyes", "+1"]
    searches = two.searches()
    for _ in range(3):
        assert two.reactions(two.write(2, "/duplicates fresh", ANYBODY)) == []
    assert two.searches() == searches
    assert two.said(2)[1:] == [two.said(2)[1]]
    assert two.said(2)[1].endswith(
        "That is a lot at once: each person can give 3 commands per 10 minutes. Please try again in 10 minutes.\n"
    )
    assert two.reactions(two.write(2, "/duplicates", "reporter")) == ["eyes", "+1"], "others are not concerned"
    two.said(2)


def test_c5_every_command_of_a_comment_counts(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "COMMANDS_LIMIT", 6)
    five = "\n".join(f"/duplicates search word{number}" for number in range(5))
    assert two.reactions(two.write(2, five, ANYBODY)) == ["eyes", "+1"]
    searches = two.searches()
    assert two.reactions(two.write(2, "/duplicates fresh\n/duplicates explain #1", ANYBODY)) == []
    assert two.searches() == searches
    assert "each person can give 6 commands per 10 minutes" in two.said(2)[1]
    assert two.reactions(two.write(2, "/duplicates help", ANYBODY)) == ["eyes", "+1"], "one is left"
    two.said(2)


def test_c5_edits_to_and_fro_count_each_time(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "COMMANDS_LIMIT", 4)
    comment = two.write(2, "/duplicates search one", ANYBODY)
    for word in ("two", "one", "two", "one", "two"):
        two.sim.clock.advance(5)
        two.edit(comment, f"/duplicates search {word}")
    assert two.reactions(comment) == ["eyes", "+1"]
    assert "each person can give 4 commands per 10 minutes" in two.said(2)[1]


def test_c5_a_triager_at_work_is_not_limited(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "COMMANDS_LIMIT", 1)
    for _ in range(3):
        assert two.reactions(two.write(2, "/duplicates not #1", "triage-person")) == ["eyes", "+1"]
    two.said(2)
