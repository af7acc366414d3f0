"""C5: who may give which command, by the repository's real permissions."""

from __future__ import annotations

import pytest

from bot.github.limits import Cost, RateLimiter
from bot.storage.commands import UsageLimit
from handlers.commands import dispatch as replying
from tests.e2e.harness import BOT, Doppel
from tests.e2e.reports import FIRST, OTHER

ANYBODY = "stranger"
ALLOWED = {
    "/duplicates": [ANYBODY, "read-person", "reporter", "triage-person"],
    "/duplicates explain #1": [ANYBODY, "reporter"],
    "/duplicates help": [ANYBODY],
    "/duplicates not #1": ["reporter", "triage-person", "write-person", "maintain-person", "admin-person"],
    "/duplicates mute": ["reporter", "triage-person"],
    "/duplicates unmute": ["reporter", "triage-person"],
    "/duplicates of #1": ["reporter", "triage-person", "write-person", "maintain-person", "admin-person"],
}
FORBIDDEN = {
    "/duplicates not #1": ([ANYBODY, "read-person"], "the issue's author, and people with triage access"),
    "/duplicates mute": ([ANYBODY], "the issue's author, and people with triage access"),
    "/duplicates unmute": ([ANYBODY], "the issue's author, and people with triage access"),
    "/duplicates of #1": ([ANYBODY, "read-person"], "the issue's author, and people with triage access"),
    "/duplicates scan": ([ANYBODY, "reporter"], "people with triage access"),
}


@pytest.fixture
def two(doppel: Doppel) -> Doppel:
    doppel.sim.set_permission(doppel.repo, "read-person", "read")
    with doppel.unheard():
        doppel.sim.open_issue(doppel.repo, "ann", *FIRST)
        doppel.sim.open_issue(doppel.repo, "reporter", *OTHER)
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
    assert "is for the issue's author, and people with triage access" in two.said(2)[0]
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
    assert "is for the issue's author, and people with triage access" in two.said(2)[0]
    # What they write themselves into another's comment is theirs.
    two.edit(comment, "It was said.\n\n/duplicates of 1\n", "maintain-person")
    assert two.sim.issue(two.repo, 2).state == "closed"
    two.said(2)


def test_c5_who_saves_anothers_comment_as_it_was_gives_no_command_by_that(two: Doppel) -> None:
    comment = two.write(2, "/duplicates of #1", ANYBODY)
    said = two.said(2)
    two.sim.clock.advance(60)
    comment.updated_at = two.sim.now()
    two.do.emit(
        "issue_comment",
        "edited",
        two.sim.who("maintain-person"),
        repository=two.repository,
        issue=comment.issue,
        comment=comment,
        changes={},
    )
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
    two.write(2, "/duplicates of #1\n/duplicates undo\n/duplicates not #1", "reporter")
    assert two.sim.issue(two.repo, 2).state == "open"
    two.write(2, "/duplicates undo", ANYBODY)
    assert two.said(2)[-1].endswith("You have nothing to take back here.\n")
    two.write(2, "/duplicates undo", "triage-person")
    assert "Taken back" in two.said(2)[-1]
    two.write(2, "/duplicates of #1", "triage-person")
    two.sim.set_permission(two.repo, "triage-person", "read")
    two.write(2, "/duplicates undo", "triage-person")
    assert "`/duplicates of #N` is for the issue's author" in two.said(2)[-1]
    assert two.sim.issue(two.repo, 2).state == "closed"


def test_c5_a_flood_is_answered_once(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 3)
    for _ in range(3):
        assert two.reactions(two.write(2, "/duplicates", ANYBODY)) == ["eyes", "+1"]
    searches = two.searches()
    for _ in range(3):
        assert two.reactions(two.write(2, "/duplicates fresh", ANYBODY)) == []
    assert two.searches() == searches
    assert two.said(2)[1:] == [two.said(2)[1]]
    assert two.said(2)[1].endswith(
        "That is a lot at once: each person can give 3 commands per 60 minutes. Please try again in 60 minutes.\n"
    )
    assert two.reactions(two.write(2, "/duplicates", "reporter")) == ["eyes", "+1"], "others are not concerned"
    two.said(2)


def test_c5_every_command_of_a_comment_counts(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 6)
    five = "\n".join(f"/duplicates search word{number}" for number in range(5))
    assert two.reactions(two.write(2, five, ANYBODY)) == ["eyes", "+1"]
    searches = two.searches()
    assert two.reactions(two.write(2, "/duplicates fresh\n/duplicates explain #1", ANYBODY)) == []
    assert two.searches() == searches
    assert "each person can give 6 commands per 60 minutes" in two.said(2)[1]
    assert two.reactions(two.write(2, "/duplicates help", ANYBODY)) == ["eyes", "+1"], "one is left"
    two.said(2)


def test_c5_edits_to_and_fro_count_each_time(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 4)
    comment = two.write(2, "/duplicates search one", ANYBODY)
    for word in ("two", "one", "two", "one", "two"):
        two.sim.clock.advance(5)
        two.edit(comment, f"/duplicates search {word}")
    assert two.reactions(comment) == ["eyes", "+1"]
    assert "each person can give 4 commands per 60 minutes" in two.said(2)[1]


@pytest.mark.parametrize("command", ["/duplicates not #1", "/duplicates help"])
def test_c5_a_triager_at_work_is_not_limited(two: Doppel, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 1)
    monkeypatch.setattr(replying, "TOGETHER", (UsageLimit(1, 60.0, together=True),))
    two.write(2, "/duplicates help", ANYBODY)
    for _ in range(3):
        assert two.reactions(two.write(2, command, "triage-person")) == ["eyes", "+1"]
    two.said(2)


def test_c5_a_persons_limit_holds_in_all_repositories_of_an_installation(
    two: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 2)
    (other,) = siblings(two, 1)
    two.write(2, "/duplicates help", ANYBODY)
    elsewhere = two.do.comment(other, 1, ANYBODY, "/duplicates help")
    assert two.reactions(elsewhere) == ["eyes", "+1"]
    assert two.reactions(two.write(2, "/duplicates help", ANYBODY)) == []
    assert "each person can give 2 commands" in two.said(2)[-1]
    told = two.do.comment(other, 1, ANYBODY, "/duplicates help")
    assert two.reactions(told) == []
    assert [one.author.login for one in two.sim.comments(other, 1)] == [ANYBODY, BOT, ANYBODY], "they are told once"


def test_c5_strangers_have_a_share_together(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replying, "TOGETHER", (UsageLimit(3, 3600.0, together=True),))
    for login in ("ann", "bob", "cid"):
        assert two.reactions(two.write(2, "/duplicates help", login)) == ["eyes", "+1"]
    before = two.said(2)
    assert two.reactions(two.write(2, "/duplicates help", "dan")) == []
    assert two.said(2) == before, "an answer would cost what is saved"
    assert two.reactions(two.write(2, "/duplicates help", "triage-person")) == ["eyes", "+1"]
    two.sim.clock.advance(3600)
    assert two.reactions(two.write(2, "/duplicates help", "dan")) == ["eyes", "+1"]
    two.said(2)


def test_c5_a_flood_of_commands_silences_no_other_repository(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub counts 80 comments, reactions and the like a minute, and 500 an hour, for all repositories together."""
    created: list[bool] = []
    take = RateLimiter.take

    def taken(pacer: RateLimiter, cost: Cost) -> float:
        delay = take(pacer, cost)
        if not delay:
            created.append(cost.content)
        return delay

    monkeypatch.setattr(RateLimiter, "take", taken)
    flooded, began = siblings(two, 3), two.sim.clock.timestamp()
    for repo in flooded:
        for login in ("mallory", "mallet", "trudy"):
            for _ in range(5):
                two.sim.comment(repo, 1, login, "/duplicates help")
    two.settle()
    assert 30 <= sum(created) <= 50, "of 135 that as many commands would cost"
    answered = two.write(2, "/duplicates help", "triage-person")
    assert two.reactions(answered) == ["eyes", "+1"]
    two.do.open_issue(two.repo, "reporter", *FIRST)
    assert "Crash while exporting" in two.said(3)[0]
    assert two.sim.clock.timestamp() - began < 60, "nobody had to wait for the budget"
    two.said(2)


def siblings(doppel: Doppel, count: int) -> list[str]:
    """Other repositories of the same installation, with an issue each."""
    names = [f"{doppel.owner}/lib-{number}" for number in range(count)]
    for name in names:
        doppel.sim.add_repository(name)
        doppel.sim.install(name)
        doppel.sim.open_issue(name, "ann", *FIRST)
    doppel.settle()
    return names
