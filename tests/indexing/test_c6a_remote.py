"""C6a: what goes to an embedding endpoint elsewhere, and what does not; and models that fail or change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from json import dumps
from typing import Any

import numpy as np
import pytest
import requests
from numpy.typing import NDArray

from bot.domain.entities import RepoRef, Repository
from bot.search.embedding import EmbeddingError
from bot.search.embedding.remote import RemoteModel
from tests.index.conftest import HashingModel
from tests.indexing.conftest import REPO, Host, on_one_database

pytestmark = pytest.mark.slow

ALLOWED = "remote_text: on"


class Endpoint:
    """What would be posted to it; each text gets the same vector."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def post(self, url: str, json: dict[str, Any], **options: Any) -> requests.Response:
        self.texts += json["input"]
        rows = [{"index": i, "embedding": [1.0, float(i)]} for i in range(len(json["input"]))]
        answer = requests.Response()
        answer.status_code, answer.raw = 200, BytesIO(dumps({"data": rows}).encode())
        return answer


@pytest.fixture
def endpoint(host: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    endpoint = Endpoint()
    monkeypatch.setattr("bot.search.embedding.remote.requests.post", endpoint.post)
    host.use(RemoteModel("https://models.example/v1", "small"))
    yield endpoint


@on_one_database
@pytest.mark.parametrize(
    ("private_too", "settings"), [(False, ""), (False, ALLOWED), (True, ""), (True, "mode: comment")]
)
def test_c6a_no_private_text_goes_where_not_both_allow_it(
    host: Host, endpoint: Endpoint, private_too: bool, settings: str
) -> None:
    host.use(RemoteModel("https://models.example/v1", "small"), private_too=private_too)
    host.sim.set_private(REPO, True)
    host.sim.write_file(REPO, ".github/doppel.yml", settings)
    host.load(3)
    host.install()
    host.sim.open_issue(REPO, "ann", "The quokka is upside down", "It should stand.")
    host.work()
    host.sim.edit_issue(REPO, 2, title="Another marsupial")
    host.work()
    host.round()
    assert endpoint.texts == []
    assert len(host.indexed()) == 4
    assert host.services.index.embed(host.repo_id, host.services.index.analyse(host.repo_id, "a", "b")) is None


def test_c6a_a_repository_that_turns_private_sends_nothing_more(host: Host, endpoint: Endpoint) -> None:
    host.load(3)
    host.install()
    assert "report 2 about part2x" in endpoint.texts, "public texts may go"
    sent = len(endpoint.texts)
    host.sim.set_private(REPO, True)
    host.work()
    host.sim.open_issue(REPO, "ann", "The quokka is upside down", "It should stand.")
    host.work()
    assert len(endpoint.texts) == sent


@on_one_database
def test_c6a_permission_that_is_taken_back_holds_from_the_push_on(host: Host, endpoint: Endpoint) -> None:
    host.use(RemoteModel("https://models.example/v1", "small"), private_too=True)
    host.sim.set_private(REPO, True)
    host.sim.write_file(REPO, ".github/doppel.yml", ALLOWED)
    host.load(3)
    host.install()
    assert host.services.index.vector_count(host.repo_id) == 3, "both allow it"
    sent = len(endpoint.texts)
    host.sim.write_file(REPO, ".github/doppel.yml", "remote_text: off")
    host.sim.open_issue(REPO, "ann", "The quokka is upside down", "It should stand.")
    host.work()
    assert len(endpoint.texts) == sent


def test_another_model_embeds_everything_anew_in_small_steps(host: Host, model: HashingModel) -> None:
    host.use(model)
    host.load(250)
    host.install()
    assert host.services.index.vector_count(host.repo_id) == 250
    other = HashingModel("other", dimensions=96)
    host.use(other)
    assert host.services.index.vector_count(host.repo_id) == 0
    # The vectors that are there are of the model of before, and cannot be compared with this one's.
    index = host.services.index
    pair = index.embed(host.repo_id, index.analyse(host.repo_id, "Report", ""))
    assert pair is not None
    with index.view(host.repo_id) as view, pytest.raises(EmbeddingError, match="embedded anew"):
        index.check(view, pair)
    host.round()
    assert host.services.index.vector_count(host.repo_id) == 250
    assert other.texts == 502
    steps = [one for one in host.queue.known if ":round-" in one]
    # Two hundred at a time, and a last one that finds nothing to do.
    assert len(steps) == 3


class Limited(HashingModel):
    """An endpoint that answers three requests of 64 texts, then none for a while."""

    remote = True
    left = 3

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for _ in range(0, len(texts), 64):
            self.left -= 1
            if self.left < 0:
                raise EmbeddingError("http://models.example/embeddings: HTTP 429")
        return super().embed(texts)


@on_one_database
def test_what_a_limited_endpoint_has_answered_is_kept(host: Host) -> None:
    """It answers less in its time than a step asks for, and would never have answered enough."""
    host.load(230)
    host.use(model := Limited())
    host.install()
    for vectors in (96, 192, 230):
        model.left = 3
        host.round()
        assert host.services.index.vector_count(host.repo_id) == vectors
    assert host.known_progress().problem == ""


@on_one_database
def test_who_asks_for_what_is_missing_hears_of_a_refusal_when_nothing_came(host: Host) -> None:
    """What came before it is told first; without the refusal nobody would know why there are no vectors."""
    host.load(100)
    host.use(None)
    host.install()
    host.use(model := Limited())
    model.left = 2
    assert len(host.services.index.embed_missing(host.repo_id)) == 64
    with pytest.raises(EmbeddingError, match="429"):
        host.services.index.embed_missing(host.repo_id)


@on_one_database
def test_c6a_permission_that_is_taken_back_holds_in_the_middle_of_a_step(host: Host) -> None:
    class Overtaken(HashingModel):
        remote = True

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            host.sim.set_private(REPO, True)
            summary = Repository(host.repo_id, RepoRef.parse(REPO), private=True)
            host.services.store.repositories.upsert(summary, None, host.services.now())
            return super().embed(texts)

    host.load(100)
    host.use(None)
    host.install()
    host.use(model := Overtaken())
    assert len(host.services.index.embed_missing(host.repo_id)) == 32
    assert model.texts == 64


@on_one_database
def test_the_progress_does_not_tell_the_endpoints_address(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The dashboard shows it to a repository's maintainers, who need not run the host."""

    def refuse(*_: object, **__: object) -> None:
        raise requests.ConnectionError("refused")

    monkeypatch.setattr("bot.search.embedding.remote.requests.post", refuse)
    host.use(RemoteModel("http://gpu7.intranet.example:8080/v1", "small"))
    host.load(3)
    host.install()
    assert host.known_progress().problem == "vectors: the model's endpoint did not answer"
    assert "http://gpu7.intranet.example:8080/v1/embeddings: ConnectionError" in caplog.text
