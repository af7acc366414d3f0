"""C4: `of` leads to the open root of the chain, else to the issue that was named, and no circle comes out of it."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Doppel

LINK = "[#{0}](https://redirect.github.com/acme/app/issues/{0})"
CLOSED = f"Closed in favour of {LINK}, which is closed itself. If the problem is still there, please say so here."


def leads(asked: int, root: int) -> str:
    return f"{LINK.format(asked)} was closed as a duplicate and leads to {LINK.format(root)}. "


@pytest.fixture
def quiet(doppel: Doppel) -> Doppel:
    """A repository where the bot looks at nothing by itself."""
    doppel.configure("only_labels: [never]\n")
    return doppel


def issues(doppel: Doppel, count: int) -> None:
    """What `of` does follows from what is on GitHub, so that the bot need not have heard of it."""
    with doppel.unheard():
        for number in range(count):
            doppel.sim.open_issue(doppel.repo, "reporter", f"Issue {number}")


def close_by_hand(doppel: Doppel, number: int, original: int) -> None:
    """As a maintainer does on GitHub's own page."""
    with doppel.unheard():
        target = doppel.sim.issue(doppel.repo, original)
        doppel.sim.close_issue(doppel.repo, number, "triage-person", "duplicate", target)


def of(doppel: Doppel, number: int, other: int | str) -> str:
    """Give the command, and return the reply without its marker."""
    doppel.write(number, f"/duplicates of {other}", "triage-person")
    return doppel.said(number)[-1].partition("\n")[2].rstrip("\n")


def original_of(doppel: Doppel, number: int) -> int | None:
    original = doppel.sim.issue(doppel.repo, number).duplicate_of
    return original.number if original else None


def test_c4_of_follows_links_that_people_made_on_github(quiet: Doppel) -> None:
    issues(quiet, 4)
    close_by_hand(quiet, 2, 1)
    close_by_hand(quiet, 3, 2)
    assert of(quiet, 4, 3) == f"Closed. {LINK.format(3)} leads to {LINK.format(1)}: the discussion continues there."
    assert original_of(quiet, 4) == 1


def test_c4_of_follows_a_chain_of_twenty(quiet: Doppel) -> None:
    issues(quiet, 22)
    for number in range(2, 22):
        close_by_hand(quiet, number, number - 1)
    assert f"leads to {LINK.format(1)}" in of(quiet, 22, 21)
    assert original_of(quiet, 22) == 1


def test_c4_of_follows_no_chain_without_end(quiet: Doppel) -> None:
    issues(quiet, 25)
    for number in range(2, 25):
        close_by_hand(quiet, number, number - 1)
    assert of(quiet, 25, 24) == CLOSED.format(24)


def test_c4_of_follows_its_own_links_where_github_does_not_tell_them(quiet: Doppel) -> None:
    issues(quiet, 3)
    assert of(quiet, 2, 1)
    quiet.sim.issue(quiet.repo, 2).duplicate_of = None
    assert f"leads to {LINK.format(1)}" in of(quiet, 3, 2)
    assert original_of(quiet, 3) == 1


def test_c4_of_is_answered_though_github_fails_over_what_is_a_duplicate_of_what(
    quiet: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.deliveries.queue.MOST_TRIES", 1)
    issues(quiet, 5)
    close_by_hand(quiet, 2, 1)
    assert of(quiet, 3, 1)
    quiet.sim.faults.add("POST /graphql", "graphql_error", code=200, times=None)
    assert of(quiet, 4, 2) == CLOSED.format(2)
    assert f"leads to {LINK.format(1)}" in of(quiet, 5, 3), "it was the bot that closed #3"
    assert original_of(quiet, 5) == 1


def test_c4_of_takes_the_issue_that_was_named_where_the_chain_leads_out_of_sight(quiet: Doppel) -> None:
    issues(quiet, 3)
    close_by_hand(quiet, 2, 1)
    quiet.sim.issue(quiet.repo, 2).duplicate_of = None
    assert of(quiet, 3, 2) == CLOSED.format(2)
    assert original_of(quiet, 3) == 2


def test_c4_of_takes_a_closed_issue_where_none_of_its_chain_is_open(quiet: Doppel) -> None:
    """What is reported again has most often been fixed already."""
    issues(quiet, 4)
    close_by_hand(quiet, 2, 1)
    quiet.sim.close_issue(quiet.repo, 1, "triage-person", "completed")
    assert of(quiet, 3, 1) == CLOSED.format(1)
    assert of(quiet, 4, 2) == CLOSED.format(2)
    assert (original_of(quiet, 3), original_of(quiet, 4)) == (1, 2)
    quiet.do.reopen_issue(quiet.repo, 1, "triage-person")
    assert f"leads to {LINK.format(1)}" in of(quiet, 4, 2)


def test_c4_of_takes_the_issue_that_was_named_of_a_chain_that_turns_in_a_circle(quiet: Doppel) -> None:
    issues(quiet, 4)
    close_by_hand(quiet, 2, 1)
    close_by_hand(quiet, 3, 2)
    close_by_hand(quiet, 1, 3)
    assert of(quiet, 4, 3) == CLOSED.format(3)


def test_c4_the_author_closes_their_own_issue_and_nobody_elses(quiet: Doppel) -> None:
    issues(quiet, 3)
    quiet.sim.open_issue(quiet.repo, "ann", "Issue of another")
    quiet.write(4, "/duplicates of #1", "reporter")
    assert "is for the issue's author, and people with triage access" in quiet.said(4)[0]
    quiet.write(3, "/dup close #1", "reporter")
    assert original_of(quiet, 3) == 1 and quiet.said(3)
    (verdict,) = quiet.services.store.verdicts.since(quiet.repository.id, 0.0)
    assert verdict.details["who"] == "author"
    quiet.write(4, f"@{quiet.sim.app.slug} duplicates duplicate of #2", "triage-person")
    assert original_of(quiet, 4) == 2 and len(quiet.said(4)) == 2
    quiet.write(2, "@doppel-of-others duplicates of #1", "triage-person")
    assert quiet.said(2) == []


def test_c4_of_is_refused_for_a_chain_that_leads_to_a_newer_issue(quiet: Doppel) -> None:
    issues(quiet, 3)
    close_by_hand(quiet, 1, 3)
    newer = f"{LINK.format(3)} is newer than this one. Close that one in favour of this one instead."
    assert of(quiet, 2, 1) == leads(1, 3) + newer


def test_c4_of_takes_the_address_of_an_issue_here_and_nowhere_else(quiet: Doppel) -> None:
    issues(quiet, 2)
    here = quiet.world.settings.github_api_url
    assert "is in another repository" in of(quiet, 2, f"https://ghe.example.org/{quiet.repo}/issues/1")
    assert "is in another repository" in of(quiet, 2, f"{here}/acme/other/issues/1")
    assert of(quiet, 2, f"{here}/{quiet.repo}/issues/1") == f"Closed: the discussion continues in {LINK.format(1)}."


@pytest.mark.parametrize("host", ["github.com", "redirect.github.com"])
def test_c4_the_address_that_github_shows_and_the_bots_own_link_are_taken(quiet: Doppel, host: str) -> None:
    issues(quiet, 2)
    assert of(quiet, 2, f"https://{host}/{quiet.repo}/issues/1").startswith("Closed: ")


def test_c4_of_goes_by_age_and_not_by_number(quiet: Doppel) -> None:
    """An issue that was transferred here has a higher number than newer ones, and its old date."""
    elsewhere = f"{quiet.owner}/elsewhere"
    quiet.sim.add_repository(elsewhere)
    quiet.sim.open_issue(elsewhere, "reporter", "It crashes")
    quiet.sim.clock.advance(60)
    issues(quiet, 1)
    assert quiet.sim.transfer_issue(elsewhere, 1, quiet.repo).number == 2
    quiet.settle()
    assert f"{LINK.format(1)} is newer than this one." in of(quiet, 2, 1)
    assert quiet.sim.issue(quiet.repo, 2).state == "open"
    assert of(quiet, 1, 2) == f"Closed: the discussion continues in {LINK.format(2)}."
    assert original_of(quiet, 1) == 2


def test_c4_three_that_are_closed_for_each_other_at_once_make_no_circle(quiet: Doppel) -> None:
    issues(quiet, 3)
    with quiet.worker_away():
        for number, other in ((1, 3), (2, 1), (3, 2)):
            quiet.sim.comment(quiet.repo, number, "triage-person", f"/duplicates of #{other}")
    quiet.settle()
    assert quiet.sim.issue(quiet.repo, 1).state == "open"
    assert original_of(quiet, 2) == 1
    # Depending on what it saw of #2, it was closed for that or for what that leads to.
    assert original_of(quiet, 3) in (1, 2)
    assert all(quiet.said(number) for number in (1, 2, 3))


def test_c4_of_closes_the_issue_though_the_label_is_refused(quiet: Doppel) -> None:
    issues(quiet, 2)
    quiet.sim.faults.add("POST */issues/2/labels", 403, times=None)
    assert of(quiet, 2, 1) == f"Closed: the discussion continues in {LINK.format(1)}."
    assert original_of(quiet, 2) == 1


def test_c4_of_follows_a_chain_as_far_as_github_shows_it(quiet: Doppel) -> None:
    issues(quiet, 3)
    close_by_hand(quiet, 2, 1)
    quiet.sim.faults.add("GET /repos/*/issues/1", 404, times=None)
    assert of(quiet, 3, 2) == CLOSED.format(2)


def test_c4_an_of_that_is_edited_to_another_issue_and_back_is_of_the_last(quiet: Doppel) -> None:
    """The bot's own word counts where GitHub does not tell, and the label that the first of them set goes with it."""
    issues(quiet, 4)
    comment = quiet.write(3, "/duplicates of #1", "triage-person")
    for other in (2, 1):
        quiet.sim.clock.advance(5)
        quiet.edit(comment, f"/duplicates of #{other}")
    issue = quiet.sim.issue(quiet.repo, 3)
    assert [label.name for label in issue.labels] == ["duplicate"]
    issue.duplicate_of = None
    assert f"leads to {LINK.format(1)}" in of(quiet, 4, 3)
    quiet.write(3, "/duplicates undo", "triage-person")
    assert (issue.state, issue.labels) == ("open", [])
    assert len(quiet.said(3)) == 2


@pytest.mark.parametrize("hiding", ['Thanks <b title="\n{}\n">a lot</b>', '[Thanks](https://acme.test "\n{}\n")'])
def test_c4_what_no_reader_of_a_comment_sees_is_not_obeyed(quiet: Doppel, hiding: str) -> None:
    issues(quiet, 2)
    quiet.write(2, hiding.format("/duplicates of #1"), "triage-person")
    assert quiet.said(2) == []
    assert quiet.sim.issue(quiet.repo, 2).state == "open"
    assert of(quiet, 2, 1)
    assert original_of(quiet, 2) == 1
