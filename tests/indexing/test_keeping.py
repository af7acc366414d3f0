"""Keeping the index current: what webhooks tell, what they missed, and what is no longer there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from bot.conversation.marker import DIGEST, SCAN
from bot.deliveries.events import IndexEvent
from bot.github.repository import RepoClient
from bot.search.index import Analysis, TextAnalyser
from handlers.installations import reconcile
from tests.index.conftest import HashingModel
from tests.indexing.conftest import REPO, Host, on_one_database

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(host: Host) -> Host:
    """With 30 issues that are all in the index."""
    host.load(30)
    host.install()
    host.pages.clear()
    return host


@on_one_database
def test_c1_what_bots_cause_is_indexed_but_not_answered(filled: Host) -> None:
    filled.sim.who("robot[bot]", "Bot")
    issue = filled.sim.open_issue(REPO, "robot[bot]", "The quokka is upside down", "It should stand.")
    filled.work()
    assert filled.indexed()[issue.number].bot
    again = filled.sim.open_issue(REPO, "robot[bot]", "The quokka is upside down", "It should stand.")
    filled.work()
    assert filled.sim.comments(REPO, again.number) == []


def test_what_an_earlier_version_has_read_is_read_anew_in_the_next_round(host: Host, model: HashingModel) -> None:

    class Earlier(TextAnalyser):
        version = TextAnalyser.version - 1

        def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
            return super().read(title.replace("quokka", "wombat"), body, lines, supplied)

    host.use(model, analyser=Earlier())
    host.load(30, title="The quokka is upside down")
    host.install()
    assert host.found("wombat") == [*range(1, 31)]
    host.use(model)
    host.round()
    assert host.found("quokka") == [*range(1, 31)] and host.found("wombat") == []
    assert host.services.index.missing_vectors(host.repo_id) == []
    progress = host.known_progress()
    assert (progress.done, progress.problem) == (True, "")


def test_what_duplicates_is_known_from_the_first_reading_and_from_closing(host: Host) -> None:
    host.load(30)
    host.sim.close_issue(REPO, 9, reason="duplicate", duplicate_of=host.sim.issue(REPO, 4))
    host.sim.add_repository("acme/other")
    elsewhere = host.sim.open_issue("acme/other", "ann", "Elsewhere")
    host.sim.close_issue(REPO, 10, reason="duplicate", duplicate_of=elsewhere)
    host.install()
    assert [host.indexed()[number].duplicate_of for number in (9, 10, 11)] == [4, None, None]
    host.sim.close_issue(REPO, 11, reason="duplicate", duplicate_of=host.sim.issue(REPO, 4))
    host.work()
    assert host.indexed()[11].duplicate_of == 4
    host.sim.reopen_issue(REPO, 11)
    host.work()
    assert host.indexed()[11].duplicate_of is None


@pytest.mark.parametrize("code", [200, 502])
def test_a_repository_is_ready_though_github_does_not_tell_what_repeats_what(host: Host, code: int) -> None:
    """GraphQL can fail over one repository for good. What a duplicate repeats is known once the issue changes again."""
    host.load(30)
    host.sim.close_issue(REPO, 9, reason="duplicate", duplicate_of=host.sim.issue(REPO, 4))
    if code == 200:
        host.sim.faults.add("POST /graphql", "graphql_error", code=code, times=None)
    else:
        host.sim.faults.add("POST /graphql", code, times=None)
    host.sim.install(REPO)
    host.work(6)
    assert host.services.indexing.ready(host.repo_id)
    assert (host.indexed()[9].state_reason, host.indexed()[9].duplicate_of) == ("duplicate", None)
    host.sim.faults.clear()
    host.sim.edit_issue(REPO, 9, title="Still the same")
    host.work()
    assert host.indexed()[9].duplicate_of == 4
    # What is known already stays while GitHub does not tell.
    host.sim.faults.add("POST /graphql", 502, times=None)
    host.sim.edit_issue(REPO, 9, title="And again the same")
    host.work(6)
    assert (host.indexed()[9].title, host.indexed()[9].duplicate_of) == ("And again the same", 4)


@on_one_database
def test_what_webhooks_missed_is_found_later(filled: Host) -> None:
    filled.sim.clock.advance(600)
    missed = filled.sim.open_issue(REPO, "ann", "The quokka is upside down", "It should stand.").number
    filled.sim.edit_issue(REPO, 5, title="Another marsupial")
    filled.miss()
    filled.work()
    assert filled.found("quokka") == []
    filled.round()
    assert (filled.found("quokka"), filled.found("marsupial")) == ([missed], [5])
    assert len(filled.pages) == 1


@on_one_database
def test_t6_looking_where_nothing_has_changed_is_free(filled: Host) -> None:
    for _ in range(3):
        filled.look()
    first, *others = filled.pages
    assert (first.unchanged, [page.unchanged for page in others]) == (False, [True, True])
    assert first.budget and others[1].budget and others[1].budget.remaining == first.budget.remaining
    filled.sim.edit_issue(REPO, 5, title="Another marsupial")
    filled.miss()
    filled.look()
    assert not filled.pages[-1].unchanged
    assert filled.found("marsupial") == [5]


@on_one_database
def test_what_follows_a_full_page_is_seen(host: Host) -> None:
    """The page itself stays as it is, and so does its ETag."""
    host.load(1)
    rows = [{"id": n, "title": f"Imported {n}", "created_at": "2026-02-01T00:00:00Z"} for n in range(2, 102)]
    host.sim.load_issues(rows, REPO)
    host.install()
    for _ in range(3):
        host.look()
    host.sim.edit_issue(REPO, 1, title="Another marsupial")
    host.miss()
    host.look()
    assert host.found("marsupial") == [1]


@on_one_database
def test_a_round_comes_again_where_a_clock_that_was_ahead_was_set_back(filled: Host) -> None:
    filled.services.indexing.resync()
    filled.work()
    filled.sim.edit_issue(REPO, 5, title="Another marsupial")
    filled.miss()
    # By its time it is the round that has been.
    filled.services.indexing.resync()
    filled.work()
    assert filled.found("marsupial") == [5]


@on_one_database
def test_the_first_issue_of_a_repository_that_nobody_told_of_has_it_read(host: Host) -> None:
    host.load(30)
    host.sim.install(REPO)
    host.miss()
    host.sim.open_issue(REPO, "ann", "The quokka is upside down")
    host.work()
    assert len(host.indexed()) == 31


@on_one_database
def test_what_the_issue_forms_supply_is_no_evidence_from_the_first_issue_on(host: Host) -> None:
    form = "body:\n  - type: textarea\n    attributes:\n      label: Describe the kangaroo\n"
    host.sim.write_file(REPO, ".github/ISSUE_TEMPLATE/bug.yml", form)
    host.sim.open_issue(REPO, "ann", "It hops", "### Describe the kangaroo\n\nmarsupial")
    host.install()
    assert (host.found("marsupial"), host.found("kangaroo")) == ([1], [])
    host.sim.write_file(REPO, ".github/ISSUE_TEMPLATE/bug.yml", form.replace("kangaroo", "wallaby"))
    host.work()
    # The next round reads the forms anew; what is read from then on is read with them.
    host.round()
    host.sim.open_issue(REPO, "bob", "It jumps", "### Describe the wallaby\n\nmarsupial")
    host.work()
    assert (host.found("marsupial"), host.found("wallaby")) == ([1, 2], [])


@on_one_database
@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x0c", "\x85"])
def test_a_line_of_an_issue_form_is_one_whatever_signs_it_holds(host: Host, sign: str) -> None:
    line = f"Describe the kangaroo{sign}and where it hops"
    host.sim.write_file(REPO, ".github/ISSUE_TEMPLATE/bug.md", f"{line}\n")
    host.sim.open_issue(REPO, "ann", "It is there", f"{line}\n\nmarsupial")
    host.install()
    assert (host.found("marsupial"), host.found("kangaroo"), host.found("hops")) == ([1], [], [])


@on_one_database
def test_what_was_deleted_unheard_is_taken_out_beside_issues_of_the_bots_own(filled: Host) -> None:
    """GitHub counts these, and they are not in the index."""
    filled.sim.who("doppel[bot]", "Bot")
    store = filled.services.store
    for own, marker in ((store.scan_issues, SCAN.line("")), (store.digest_issues, DIGEST.line(""))):
        issue = filled.sim.open_issue(REPO, "doppel[bot]", "What the bot has to say", marker)
        own.set(filled.repo_id, issue.number, 1.0)
    filled.work()
    assert len(filled.indexed()) == 30
    filled.sim.add_repository("acme/other")
    filled.sim.delete_issue(REPO, 5)
    filled.sim.transfer_issue(REPO, 6, "acme/other")
    filled.miss()
    filled.round()
    assert (filled.found("part5x"), filled.found("part6x"), len(filled.indexed())) == ([], [], 28)


@pytest.mark.parametrize("deleted", [False, True])
def test_another_repository_that_took_the_name_is_not_taken_for_this_one(filled: Host, deleted: bool) -> None:
    """Nobody has heard of the renaming yet, and everybody can read the other one, which is public."""
    filled.sim.rename_repository(REPO, "old")
    filled.sim.add_repository(REPO)
    if not deleted:
        filled.sim.clock.advance(600)
        filled.sim.open_issue(REPO, "ann", "The quokka is upside down")
    filled.miss()
    filled.round()
    assert (filled.found("quokka"), filled.found("part1x"), len(filled.indexed())) == ([], [1], 30)
    assert "404" in filled.known_progress().problem
    filled.sim.edit_issue("acme/old", 5, title="Another marsupial")
    filled.miss()
    reconcile(filled.services)
    filled.round()
    assert (filled.found("marsupial"), len(filled.indexed())) == ([5], 30)
    assert not filled.known_progress().problem


def test_a_difference_in_counting_is_looked_into_once(filled: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub's lists and counts need not agree on what they hide."""
    monkeypatch.setattr(RepoClient, "count_issues", lambda *_: 28)
    for _ in range(3):
        filled.round()
    asked = [one for one in filled.queue.known if ":round-" in one and not one.endswith(":0")]
    assert len(asked) == 2
    assert len(filled.indexed()) == 30


@on_one_database
def test_a_name_that_changes_hands_while_the_deleted_are_sought_costs_nothing(filled: Host) -> None:
    """Under the numbers of this repository's issues there is nothing in the other one."""
    known = filled.services.store.repositories.get(filled.repo_id)
    assert known is not None
    filled.sim.rename_repository(REPO, "old")
    filled.sim.add_repository(REPO)
    filled.miss()
    seek = IndexEvent(known.installation, known.summary, "seek", step=1, checked=0)
    filled.queue.put(seek.delivery_id, seek)
    filled.work()
    assert len(filled.indexed()) == 30
