"""C7: how the reactions to comments are read: as many requests as a turn may make, and what comes of failures."""

from __future__ import annotations

from typing import Any, cast

import pytest
import sqlalchemy as sa

from bot.domain.entities import Permission, RepoRef
from bot.domain.errors import Forbidden, Unavailable
from bot.github.feedback import VotesPage
from bot.github.repository import RepoClient
from bot.quality.polling import MOST_REQUESTS, WATCHED_FOR, ReactionPoll, RequestBudget
from bot.simulator.state.issues import Comment
from bot.storage import CommentState
from bot.storage.schema import tables_of_repositories
from tests.e2e.harness import Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import AGAIN, OTHER, comment_on, poll, said


def test_c7_a_paused_host_asks_nothing(doppel: Doppel, commented: Comment) -> None:
    doppel.sim.react(commented, "triage-person", "+1")
    with doppel.paused():
        poll(doppel)
    assert said(doppel) == []
    poll(doppel)
    assert len(said(doppel)) == 1


@pytest.mark.parametrize("read", [True, False], ids=["file read since", "file just pushed"])
def test_c7_where_the_bot_is_off_no_votes_are_read(doppel: Doppel, commented: Comment, read: bool) -> None:
    doppel.sim.react(commented, "triage-person", "-1")
    doppel.configure("mode: off\n")
    if read:
        doppel.open(*OTHER)
    poll(doppel)
    assert said(doppel) == []
    assert commented.minimized is None


@pytest.mark.parametrize("status", [403, 502])
def test_c7_votes_that_github_does_not_tell_are_read_in_the_next_turn(
    doppel: Doppel, commented: Comment, status: int
) -> None:
    doppel.sim.react(commented, "triage-person", "+1")
    doppel.sim.faults.add("POST /graphql", status, times=None)
    poll(doppel)
    assert said(doppel) == []
    doppel.sim.faults.clear()
    poll(doppel)
    assert len(said(doppel)) == 1


def test_c1_a_comment_whose_deletion_nobody_heard_of_is_never_posted_again(doppel: Doppel, commented: Comment) -> None:
    """Whoever reads its votes sees that it is gone."""
    with held_back(doppel):
        doppel.sim.delete_comment(commented, "maintain-person")
    poll(doppel)
    kept = doppel.services.store.comments.get(doppel.repository.id, 2)
    assert kept is not None
    assert kept.state is CommentState.DELETED


def test_c6a_votes_on_an_issue_that_is_deleted_while_they_are_read_leave_nothing_behind(
    doppel: Doppel, commented: Comment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody may do is asked after the votes; of a large repository reading them takes minutes."""
    doppel.sim.react(commented, "reporter", "-1")
    permission = RepoClient.permission

    def delete_and_ask(github: RepoClient, repo: RepoRef, login: str) -> Permission:
        doppel.do.delete_issue(doppel.repo, 2, "admin-person")
        return permission(github, repo, login)

    monkeypatch.setattr(RepoClient, "permission", delete_and_ask)
    poll(doppel)
    with doppel.services.store.engine.connect() as connection:
        for table in tables_of_repositories():
            if "number" in table.c:
                mine = sa.select(table).where(table.c.repo_id == doppel.repository.id, table.c.number == 2)
                assert connection.execute(mine).all() == [], table.name


@pytest.mark.parametrize(
    ("failure", "then"),
    [
        (Unavailable("fold a comment: GitHub failed over the query"), "OUTDATED"),
        (Forbidden("fold a comment", 403, "it is locked"), None),
    ],
    ids=["tried again", "left alone"],
)
def test_c7_a_comment_that_cannot_be_folded_keeps_no_other_votes_from_being_read(
    doppel: Doppel, commented: Comment, monkeypatch: pytest.MonkeyPatch, failure: Exception, then: str | None
) -> None:
    doppel.open("The export to PDF crashes", AGAIN[1])
    doppel.said(3)
    later = comment_on(doppel, 3)
    doppel.sim.react(later, "reporter", "-1")
    doppel.sim.react(commented, "triage-person", "+1")

    def fail(*_: object) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(RepoClient, "fold", fail)
        poll(doppel)
    assert (2, 1, True, "reaction", "triage", 1.0) in said(doppel)
    assert later.minimized is None
    poll(doppel)
    assert later.minimized == then


class Noting:
    """The real client, and what it is asked."""

    def __init__(self, client: RepoClient) -> None:
        self._client = client
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._client, name)


def test_c7_what_a_turn_may_not_ask_any_more_is_asked_in_the_next(doppel: Doppel, commented: Comment) -> None:
    """The comment's name at GitHub, the votes, the voter's right, and the folding: each is a request."""
    doppel.sim.react(commented, "triage-person", "-1")
    assert asked(doppel, 1) == ["comment"]
    assert asked(doppel, 1) == ["votes"]
    assert said(doppel) == [], "nobody has said what the voter may do"
    assert asked(doppel, 2) == ["permission", "votes"]
    assert len(said(doppel)) == 1
    assert commented.minimized is None
    assert asked(doppel) == ["fold", "votes"]
    assert commented.minimized == "OUTDATED"


def test_c7_reactions_to_many_comments_are_one_request(doppel: Doppel, commented: Comment) -> None:
    """GitHub's name of a comment is asked for once, what somebody may do once while their vote stands."""
    doppel.open(*AGAIN, author="bob")
    doppel.said(3)
    doppel.sim.react(commented, "triage-person", "+1")
    assert asked(doppel) == ["comment", "comment", "permission", "votes"]
    assert asked(doppel) == ["votes"]
    doppel.sim.react(commented, "ann", "+1")
    doppel.sim.react(comment_on(doppel, 3), "ann", "+1")
    assert asked(doppel) == ["permission", "votes"], "who votes on two comments is asked about once"
    doppel.sim.clock.advance(WATCHED_FOR)
    assert asked(doppel) == [], "nobody votes on what is a month old"


def asked(doppel: Doppel, most: int = MOST_REQUESTS) -> list[str]:
    """What one look at the repository's reactions asks of GitHub."""
    services = doppel.services
    known = services.store.repositories.get(doppel.repository.id)
    assert known is not None
    assert known.installation is not None
    client = Noting(services.github.installation(known.installation, repository_ids=(known.id,)))
    here = cast("RepoClient", client)
    ReactionPoll(here, services.store, known.id, known.ref, services.now(), RequestBudget(most)).poll()
    return sorted(client.asked)


def test_c7_a_turn_makes_as_many_requests_as_it_may() -> None:
    budget = RequestBudget(2)
    assert [budget.take() for _ in range(4)] == [True, True, False, False]


def test_c7_reading_stops_at_a_share_of_the_budget() -> None:
    budget = RequestBudget(3)
    assert budget.take()
    budget.end_if_low(VotesPage(remaining=2600, limit=5000))
    assert budget.take()
    budget.end_if_low(VotesPage(remaining=2400, limit=5000))
    assert not budget.take()
