"""T6: conditional requests, by the real client against the simulator, with the memory in either database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import sqlalchemy as sa

from bot.errors import Forbidden, NotFound, Unavailable
from bot.github.client import GitHub
from bot.github.http.conditional import LARGEST_KEPT, ConditionalTransport
from bot.github.http.memory import Question, Remembered
from bot.github.repository.repo import RepoClient
from bot.model import Repository
from bot.simulator import Server, Simulator
from bot.store import Store
from bot.store.database.engine import make_engine
from bot.store.parts.etags import KEPT, Etags
from bot.store.parts.tokens import SealedTokens
from bot.store.tables.schema import etags, tokens
from tests.about import stored
from tests.github.conftest import REPO

OTHER = "acme/other"


@pytest.fixture
def store(store_url: str, sim: Simulator) -> Iterator[Store]:
    engine = make_engine(store_url)
    store = Store(engine)
    store.repositories.upsert(Repository(sim.repo("acme/app").id, REPO, private=False), 1, 1.0)
    yield store
    store.close()


@pytest.fixture
def new_client(server: Server, connect: Callable[..., GitHub], store: Store) -> Callable[[], RepoClient]:
    """A client as another process has it: it shares nothing with the others but the database."""

    def new() -> RepoClient:
        shared = SealedTokens(store.engine, server.private_key_pem)
        github = connect(memory=store.etags, shared_tokens=shared)
        return github.installation(github.app().installation_of(REPO))

    return new


@pytest.fixture
def cost(sim: Simulator) -> Callable[[Callable[[], object]], int]:
    """How many requests of the installation's primary limit something costs."""
    caller = f"installation:{next(iter(sim.installations))}"

    def cost(work: Callable[[], object]) -> int:
        before = sim.limits.state(caller, "core")["used"]
        work()
        return sim.limits.state(caller, "core")["used"] - before

    return cost


def rows(store: Store) -> list[str]:
    with store.engine.connect() as connection:
        return list(connection.execute(sa.select(etags.c.url)).scalars())


def test_t6_what_has_not_changed_costs_nothing_in_another_process(
    sim: Simulator, new_client: Callable[[], RepoClient], cost: Callable[[Callable[[], object]], int]
) -> None:
    sim.write_file("acme/app", "docs/one.md", "one")
    sim.open_issue("acme/app", "alice", "It crashes", "at once")

    def read() -> tuple[object, ...]:
        client = new_client()
        return (
            client.file(REPO, "docs/one.md"),
            client.directory(REPO, "docs"),
            client.labels(REPO),
            client.issue(REPO, 1),
            client.repository(REPO),
        )

    first = read()
    assert first[0] == "one"
    assert cost(lambda: None) == 0
    assert cost(read) == 0
    assert read() == first


def test_t6_what_has_changed_is_read_anew(sim: Simulator, new_client: Callable[[], RepoClient]) -> None:
    """An issue's `updated_at` is part of what GitHub's ETag is made from."""
    sim.write_file("acme/app", "docs/one.md", "one")
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    client, other = new_client(), new_client()
    for one in (client, other):
        assert (one.file(REPO, "docs/one.md"), one.issue(REPO, 1).title) == ("one", "It crashes")
    sim.write_file("acme/app", "docs/one.md", "two")
    sim.edit_issue("acme/app", 1, title="It crashes on start")
    for one in (client, other):
        assert (one.file(REPO, "docs/one.md"), one.issue(REPO, 1).title) == ("two", "It crashes on start")
    sim.delete_issue("acme/app", 1)
    with pytest.raises(NotFound):
        client.issue(REPO, 1)


def test_t6_an_answer_that_was_cut_off_is_not_kept(sim: Simulator, new_client: Callable[[], RepoClient]) -> None:
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    client = new_client()
    sim.faults.add("GET /repos/*/issues/*", "malformed")
    with pytest.raises(Unavailable):
        client.issue(REPO, 1)
    assert client.issue(REPO, 1).title == "It crashes"


def test_t6_a_renamed_repository_is_read_under_its_new_name_though_the_answer_is_the_same(
    sim: Simulator, new_client: Callable[[], RepoClient]
) -> None:
    """A list without entries names no repository, so that its ETag is the old one's."""
    for name in list(sim.repo("acme/app").labels):
        sim.delete_label("acme/app", name)
    client = new_client()
    assert client.labels(REPO) == frozenset()
    sim.rename_repository("acme/app", "product")
    assert client.labels(REPO) == frozenset()


def test_t6_nobody_gets_from_memory_what_they_may_not_read(
    sim: Simulator, new_client: Callable[[], RepoClient]
) -> None:
    """GitHub decides each time, with the present token."""
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    client = new_client()
    client.issue(REPO, 1)
    sim.set_permissions("acme", {"metadata": "read"})
    with pytest.raises((Forbidden, NotFound)):
        new_client().issue(REPO, 1)


class TestTokens:
    """Without the same token GitHub's ETags would be of no use to another process."""

    def test_t6_another_process_uses_the_same_token(self, sim: Simulator, new_client: Callable[[], RepoClient]) -> None:
        for _ in range(3):
            new_client().labels(REPO)
        assert len(sim.installation_tokens) == 1

    def test_it_lies_sealed_in_the_database(
        self, sim: Simulator, store: Store, new_client: Callable[[], RepoClient]
    ) -> None:
        new_client().labels(REPO)
        with store.engine.connect() as connection:
            (row,) = connection.execute(sa.select(tokens)).all()
        (token,) = sim.installation_tokens
        assert token.encode() not in bytes(row.sealed)
        now = sim.clock.timestamp()
        assert SealedTokens(store.engine, "another key").get(row.scope, now) is None
        assert row.expires_at > now

    def test_one_that_github_refuses_is_replaced_for_all(
        self, sim: Simulator, new_client: Callable[[], RepoClient]
    ) -> None:
        new_client().labels(REPO)
        sim.installation_tokens.clear()
        new_client().labels(REPO)
        new_client().labels(REPO)
        assert len(sim.installation_tokens) == 1

    def test_one_that_lacks_what_was_given_since_is_used_no_more(
        self, sim: Simulator, connect: Callable[..., GitHub], server: Server, store: Store
    ) -> None:
        shared = SealedTokens(store.engine, server.private_key_pem)
        first, second = (connect(memory=store.etags, shared_tokens=shared) for _ in range(2))
        installation = first.app().installation_of(REPO)
        repo_id = sim.repo("acme/app").id

        def read() -> set[str]:
            """Whose tokens are used by both processes, for the whole installation and for one repository."""
            for github in (first, second):
                for ids in ((), (repo_id,)):
                    github.installation(installation, repository_ids=ids).labels(REPO)
            return set(sim.installation_tokens)

        before = read()
        assert len(before) == 2
        first.forget_tokens(installation)
        # The other one sees it within a minute.
        sim.clock.advance(61)
        assert len(read() - before) == 2
        assert len(read() - before) == 2

    def test_one_that_expires_is_not_used(
        self, sim: Simulator, store: Store, new_client: Callable[[], RepoClient]
    ) -> None:
        new_client().labels(REPO)
        sim.clock.advance(3600)
        new_client().labels(REPO)
        assert len(sim.installation_tokens) == 2
        with store.engine.connect() as connection:
            assert len(connection.execute(sa.select(tokens)).all()) == 1

    def test_a_database_that_fails_is_no_failure(
        self, sim: Simulator, store: Store, new_client: Callable[[], RepoClient], caplog: pytest.LogCaptureFixture
    ) -> None:
        with store.engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE tokens"))
        new_client().labels(REPO)
        (token,) = sim.installation_tokens
        assert "not shared" in caplog.text
        assert token not in caplog.text


def test_c6a_only_what_can_be_erased_is_kept(
    sim: Simulator, store: Store, new_client: Callable[[], RepoClient]
) -> None:
    sim.add_repository(OTHER)
    sim.install(OTHER)
    sim.open_issue(OTHER, "alice", "Elsewhere", "")
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    client = new_client()
    client.labels(REPO)
    client.issue(REPO, 1)
    client.recent_issues(REPO, 10)
    client.comments(REPO, 1)
    client.search("repo:acme/app is:issue crashes")
    assert sorted(url.split(" ")[0].rpartition("/")[2].partition("?")[0] for url in rows(store)) == ["1", "labels"]
    repo_id = sim.repo("acme/app").id
    store.forget_issue(repo_id, 1)
    assert len(rows(store)) == 1
    store.forget(repo_id)
    assert rows(store) == []
    client.labels(REPO)
    assert rows(store) == [], "a repository that is not known here could not be erased"


QUESTION = Question("installation 1", REPO, 3, "https://api.github.example/repos/acme/app/issues/3 json")
ANSWER = Remembered({"etag": 'W/"one"', "content-type": "application/json"}, b'{"title": "\x00 \xc3\xa4"}')


class TestMemory:
    """The contract, on both databases."""

    def test_what_is_kept_comes_back_to_the_same_question_only(self, store: Store) -> None:
        assert store.etags.get(QUESTION) is None
        store.etags.put(QUESTION, ANSWER)
        assert store.etags.get(QUESTION) == ANSWER
        assert store.etags.get(Question("installation 2", REPO, 3, QUESTION.url)) is None
        assert store.etags.get(Question(QUESTION.account, REPO, 3, QUESTION.url + "x")) is None
        newer = Remembered({"etag": 'W/"two"'}, b"")
        store.etags.put(QUESTION, newer)
        assert store.etags.get(QUESTION) == newer
        assert len(rows(store)) == 1

    def test_what_is_old_goes_when_something_is_kept(self, store: Store) -> None:
        now = [1_000.0]
        memory = Etags(store.engine, lambda: now[0])
        memory.put(QUESTION, ANSWER)
        now[0] += KEPT + 1
        memory.put(Question(QUESTION.account, REPO, 0, "another"), ANSWER)
        assert rows(store) == ["another"]

    def test_threads_see_whole_answers(self, store: Store) -> None:
        answers = [Remembered({"etag": f"e{number}"}, str(number).encode() * 20_000) for number in range(4)]

        def work(number: int) -> None:
            for _ in range(10):
                store.etags.put(QUESTION, answers[number])
                assert store.etags.get(QUESTION) in answers

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert len(rows(store)) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("overtaken", ["put", "forget"])
    def test_c6a_nothing_is_kept_of_a_repository_that_is_erased_at_the_same_moment(
        self, store: Store, sim: Simulator, overtaken: str
    ) -> None:
        """One of the two begins, and the other wants to do all of its work in the middle of that."""

        def put() -> None:
            store.etags.put(QUESTION, ANSWER)

        def forget() -> None:
            store.forget(sim.repo("acme/app").id)

        first, second = (put, forget) if overtaken == "put" else (forget, put)
        half = "SELECT repositories.repo_id" if overtaken == "put" else "DELETE FROM etags"
        others: list[threading.Thread] = []

        def overtake(connection: object, cursor: object, statement: str, *_: object) -> None:
            if statement.startswith(half) and not others:
                others.append(threading.Thread(target=second))
                others[0].start()
                # Where it has to wait, that is for the first to end.
                others[0].join(0.3)

        sa.event.listen(store.engine, "after_cursor_execute", overtake)
        first()
        others[0].join()
        assert stored(store, sim.repo("acme/app").id) == 0

    def test_a_database_that_fails_is_no_memory_and_no_failure(
        self, store: Store, caplog: pytest.LogCaptureFixture
    ) -> None:
        with store.engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE etags"))
        store.etags.put(QUESTION, ANSWER)
        assert store.etags.get(QUESTION) is None
        assert "title" not in caplog.text


class Dictionary:
    def __init__(self) -> None:
        self.kept: dict[Question, Remembered] = {}

    def get(self, question: Question) -> Remembered | None:
        return self.kept.get(question)

    def put(self, question: Question, answer: Remembered) -> None:
        self.kept[question] = answer


def through(memory: Dictionary, answer: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    transport = ConditionalTransport(httpx.MockTransport(answer), memory, account="a", base_path="/api/v3/")
    return httpx.Client(transport=transport, base_url="https://ghe.example/api/v3")


def test_what_is_not_asked_conditionally() -> None:
    """Writes, lists that always change, other hosts' paths, and requests that have a condition of their own."""
    asked: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("If-None-Match"))
        return httpx.Response(200, headers={"ETag": "x"}, json={})

    memory = Dictionary()
    with through(memory, answer) as client:
        for _ in range(2):
            client.patch("/repos/acme/app/issues/3", json={})
            client.get("/repos/acme/app/issues")
            client.get("/repos/acme/app/issues/3/comments")
            client.get("/search/issues?q=x")
            client.get("/repos/acme/app/labels", headers={"If-None-Match": "mine"})
            client.get("/repos/acme/app/contents/" + "x" * 1_000)
    assert set(asked) == {None, "mine"}
    assert memory.kept == {}


def test_large_answers_and_those_without_an_etag_are_not_kept() -> None:
    bodies = {"labels": b'"%s"' % (b"x" * LARGEST_KEPT), "contents": b"1", "issues/3": b"2"}

    def answer(request: httpx.Request) -> httpx.Response:
        name = request.url.path.partition("/app/")[2]
        headers = {} if name == "contents" else {"ETag": name}
        return httpx.Response(404 if name == "issues/3" else 200, headers=headers, content=bodies[name])

    memory = Dictionary()
    with through(memory, answer) as client:
        for name in bodies:
            client.get(f"/repos/acme/app/{name}")
    assert memory.kept == {}


def test_the_remembered_answer_has_the_limits_of_the_new_one() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        left = {"x-ratelimit-remaining": "7", "date": "now"}
        if request.headers.get("If-None-Match") == "one":
            return httpx.Response(304, headers={**left, "etag": "one"})
        return httpx.Response(
            200, headers={"etag": "one", "link": "<next>", "x-ratelimit-remaining": "8", "set-cookie": "c"}, json=[1]
        )

    with through(Dictionary(), answer) as client:
        first, again = (client.get("/repos/acme/app/labels?per_page=100") for _ in range(2))
    assert (again.status_code, again.json(), again.headers["link"]) == (200, first.json(), "<next>")
    assert again.headers["x-ratelimit-remaining"] == "7"
    assert "set-cookie" not in again.headers
