"""H6: sibling repositories, and that nothing private reaches those who cannot read it. Against the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bot.domain.entities import RepoRef
from bot.github.repository import RepoClient
from bot.search.ranking.plan import Plan
from bot.search.sources import SearchRequest, SourceResult
from bot.search.sources.configured import Siblings
from bot.simulator import Server, Simulator
from tests.served import emptied, reading, server

__all__ = ["server"]

APP, LIB, SECRET = RepoRef("acme", "app"), RepoRef("acme", "lib"), RepoRef("acme", "secret")
FOREIGN = RepoRef("zeta", "core")


@pytest.fixture
def sim(server: Server) -> Iterator[Simulator]:
    with emptied(server) as sim:
        for repo, private in ((APP, False), (LIB, False), (SECRET, True), (FOREIGN, False)):
            sim.add_repository(str(repo), private=private)
            sim.open_issue(str(repo), "ann", f"Quagga crash in {repo.name}", "Nobody else may know of project Nightjar")
        sim.install("acme/app", "acme/lib", "acme/secret")
        yield sim


@pytest.fixture
def client(server: Server, sim: Simulator) -> Iterator[RepoClient]:
    # This token can read the private repository: nothing but our own care keeps it back.
    with reading(server, APP) as client:
        yield client


def ask(client: Any, *named: RepoRef, allowed: tuple[str, ...] = ()) -> SourceResult:
    target = client.issue(APP, 1)
    return Siblings(client, named, allowed).ask(SearchRequest(target, Plan((), words=("quagga", "crash")), ""))


def found(answer: SourceResult) -> list[str]:
    return [f"{issue.repo}#{issue.number}" for items in answer.lists for issue in items]


def test_h6_a_public_repository_of_the_same_owner_is_searched(client: RepoClient) -> None:
    answer = ask(client, LIB, APP)
    assert found(answer) == ["acme/lib#1"]
    assert answer.problems == ()
    assert [(run.source, run.query, run.hits) for run in answer.runs] == [
        ("siblings", "repo:acme/lib is:issue in:title (quagga OR crash)", 1)
    ]


def test_h6_several_are_searched_three_at_a_time(client: RepoClient, sim: Simulator) -> None:
    more = [RepoRef("acme", f"tool{number}") for number in range(3)]
    for repo in more:
        sim.add_repository(str(repo))
        sim.open_issue(str(repo), "ann", "Quagga crash", "Here too")
    answer = ask(client, LIB, *more)
    assert sorted(found(answer)) == ["acme/lib#1", *(f"{repo}#1" for repo in more)]
    assert [(run.query, run.hits) for run in answer.runs] == [
        ("(repo:acme/lib OR repo:acme/tool0 OR repo:acme/tool1) is:issue in:title (quagga OR crash)", 3),
        ("repo:acme/tool2 is:issue in:title (quagga OR crash)", 1),
    ]


def test_h6_a_private_one_is_left_out_and_nothing_of_it_is_told(client: RepoClient) -> None:
    for named in ((SECRET,), (SECRET, LIB), (LIB, RepoRef("Acme", "Secret"))):
        answer = ask(client, *named, allowed=("acme/secret",))
        assert "acme/secret#1" not in found(answer)
        assert "secret" not in repr(answer).lower()
        assert "Nightjar" not in "".join(run.query + str(run.problem) for run in answer.runs)
        assert tuple(map(str, answer.problems)) == (
            f"siblings: 1 of {len(named)} left out: not a public repository of this owner, nor allowed by the host",
        )


def test_h6_that_a_repository_does_not_exist_sounds_the_same_as_that_it_is_private(client: RepoClient) -> None:
    assert ask(client, RepoRef("acme", "nothing")) == ask(client, SECRET)


def test_h6_other_owners_need_the_hosts_leave_and_must_be_public_too(client: RepoClient, sim: Simulator) -> None:
    assert found(ask(client, FOREIGN)) == []
    assert found(ask(client, FOREIGN, allowed=("Zeta/Core",))) == ["zeta/core#1"]
    sim.set_private("zeta/core", True)
    assert found(ask(client, FOREIGN, allowed=("zeta/core",))) == []


def test_h6_one_that_is_hidden_is_not_shown_from_memory(client: RepoClient, sim: Simulator) -> None:
    thread = client.thread("acme/app#1")
    assert found(ask(thread, LIB)) == ["acme/lib#1"]
    sim.set_private("acme/lib", True)
    assert found(ask(thread, LIB)) == []


def test_h6_one_that_is_hidden_in_the_moment_of_the_search_is_not_shown(client: RepoClient, sim: Simulator) -> None:
    class Unlucky:
        """Between the look at the repository and the answer of the search, the repository is made private."""

        def __getattr__(self, name: str) -> Any:
            return getattr(client, name)

        def search(self, query: str, **options: Any) -> Any:
            page = client.search(query, **options)
            sim.set_private("acme/lib", True)
            return page

    answer = ask(Unlucky(), LIB)
    assert found(answer) == []
    assert answer.runs == ()
    assert tuple(map(str, answer.problems)) == ("siblings: a repository is public no more",)


def test_h6_one_that_was_renamed_or_given_away_is_no_sibling(client: RepoClient, sim: Simulator) -> None:
    sim.rename_repository("acme/lib", "library")
    answer = ask(client, LIB)
    assert (found(answer), answer.runs) == ([], ()), "it is not even asked for"
    assert found(ask(client, RepoRef("acme", "library"))) == ["acme/library#1"]
    sim.rename_repository("acme/library", "lib")


def test_h6_what_a_search_brings_from_elsewhere_is_dropped(client: RepoClient) -> None:
    class Careless:
        def __getattr__(self, name: str) -> Any:
            return getattr(client, name)

        def search(self, query: str, **options: Any) -> Any:
            return client.search(query.replace("repo:acme/lib", "(repo:acme/lib OR repo:acme/secret)"), **options)

    assert found(ask(Careless(), LIB)) == ["acme/lib#1"]


def test_h1_an_outage_is_told_without_a_name_and_may_be_over_later(client: RepoClient, sim: Simulator) -> None:
    class Down:
        def __getattr__(self, name: str) -> Any:
            return getattr(client, name)

        def repository(self, repo: RepoRef) -> Any:
            sim.faults.add("/repos/acme/lib", 502, times=None)
            return client.repository(repo)

    answer = ask(Down(), LIB)
    assert tuple(map(str, answer.problems)) == ("siblings: whether the repositories are public could not be read",)
    assert [run.later for run in answer.runs] == [True]
    assert "acme" not in repr(answer)
