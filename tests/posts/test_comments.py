"""The bot's own comments: never twice, never again once deleted, whatever goes wrong in between (C1, C2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime

import pytest

from bot.conversation.comments import LEASE, CommentDraft, CommentSlot, CommentWriter, hash_texts
from bot.conversation.marker import answered_comment_id, of_app
from bot.domain.entities import Comment, RepoRef
from bot.domain.errors import Forbidden, Retryable
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.simulator import Simulator, start_simulator
from bot.simulator.keys import shared_pair
from bot.simulator.manifest import of_this_project
from bot.storage import CommentState, Store
from bot.storage.engine import make_engine

REPO = RepoRef("acme", "app")
MARKER = "<!-- doppel:advice"
COMMENTS = "POST /repos/acme/app/issues/1/comments"


def draft(text: str, answers: str = "text") -> CommentDraft:
    body = f"{MARKER} v1 -->\n{text}"
    return CommentDraft(body, hash_texts(body), answers)


@dataclass
class Scene:
    """A writer on an empty store, and an issue on which nobody has commented."""

    sim: Simulator
    github: RepoClient
    store: Store
    writer: CommentWriter
    slot: CommentSlot
    wait: Callable[[float], None]
    # Another worker, and what happens while the first one waits for its turn at GitHub.
    other: RepoClient
    meanwhile: list[Callable[[], None]]

    def write(self, text: str, *, search: bool = False, create: bool = True) -> bool:
        return self.writer.write(self.github, self.slot, draft(text), search=search, create=create)

    def write_elsewhere(self, text: str) -> bool:
        return self.writer.write(self.other, self.slot, draft(text))

    def bodies(self) -> list[str]:
        return [comment.body for comment in self.sim.comments("acme/app", 1)]


@pytest.fixture
def scene(new_store: Callable[[str], str]) -> Iterator[Scene]:
    engine = make_engine(new_store("sqlite"))
    store = Store(engine)
    with start_simulator() as server:
        sim = server.sim
        repository = sim.add_repository("acme/app")
        sim.install("acme/app")
        sim.open_issue("acme/app", "ann", "Login fails")
        meanwhile: list[Callable[[], None]] = []

        def sleep(seconds: float) -> None:
            sim.clock.advance(seconds)
            if meanwhile:
                meanwhile.pop()()

        workers = [
            GitHub(
                app_id=server.app_id,
                private_key=server.private_key_pem,
                api_url=server.url,
                timeout=2.0,
                clock=sim.clock.timestamp,
                monotonic=sim.clock.timestamp,
                sleep=sleep,
            )
            for _ in range(2)
        ]
        client, other = (github.installation(github.app().installation_of(REPO)) for github in workers)
        writer = CommentWriter(store.comments, of_app(server.app_id), sim.clock.now)
        slot = CommentSlot(repository.id, REPO, 1, lambda body: body.startswith(MARKER))
        yield Scene(sim, client, store, writer, slot, sim.clock.advance, other, meanwhile)
        for github in workers:
            github.close()
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["timeout_after_write", "reset_after_write", "malformed"])
def test_c2_a_comment_that_was_written_without_an_answer_is_found_again(scene: Scene, fault: str) -> None:
    scene.sim.faults.add(COMMENTS, fault)  # type: ignore[arg-type]
    with pytest.raises(Retryable):
        scene.write("one")
    with pytest.raises(Retryable, match="another attempt"):
        scene.write("two")
    scene.wait(LEASE)
    assert scene.write("two")
    assert scene.bodies() == [draft("two").body]


def test_c2_what_is_left_of_a_dead_workers_claim_is_waited_for_and_no_more(scene: Scene) -> None:
    """A worker's death is noticed within 45 seconds; its claim must not hold the comment up for as long again."""
    scene.store.comments.claim(scene.slot.repo_id, 1, 0, now=scene.sim.clock.timestamp(), lease=LEASE)
    scene.wait(LEASE - 5)
    with pytest.raises(Retryable, match="another attempt") as refused:
        scene.write("one")
    assert 0 < (refused.value.after or 0) <= 5
    scene.wait(5)
    assert scene.write("one")
    assert scene.bodies() == [draft("one").body]


def test_c1_a_comment_deleted_before_its_number_was_known_is_not_posted_again(scene: Scene) -> None:
    scene.sim.faults.add(COMMENTS, "reset_after_write")
    with pytest.raises(Retryable):
        scene.write("one")
    (written,) = scene.sim.comments("acme/app", 1)
    scene.sim.delete_comment(written, "acme")
    place = answered_comment_id(written.body)
    assert scene.store.comments.mark_deleted(scene.slot.repo_id, 1, written.id, scene.sim.clock.timestamp(), place)
    scene.wait(LEASE)
    assert not scene.write("one")
    assert scene.bodies() == []


def test_c2_a_comment_that_was_not_written_is_written_later(scene: Scene) -> None:
    scene.sim.faults.add(COMMENTS, status=502, times=None)
    with pytest.raises(Retryable):
        scene.write("one")
    scene.sim.faults.clear()
    scene.wait(LEASE)
    assert scene.write("one")
    assert scene.bodies() == [draft("one").body]


def test_a_refusal_gives_the_claim_back_at_once(scene: Scene) -> None:
    scene.sim.faults.add(COMMENTS, status=403)
    with pytest.raises(Forbidden):
        scene.write("one")
    assert scene.write("one")
    assert scene.bodies() == [draft("one").body]


def test_c2_many_workers_at_once_post_one_comment(scene: Scene) -> None:
    def attempt(_: int) -> bool:
        try:
            return scene.write("one")
        except Retryable:
            return False

    with ThreadPoolExecutor(6) as pool:
        assert any(pool.map(attempt, range(6)))
    assert scene.bodies() == [draft("one").body]


def test_c2_a_write_that_waits_for_its_turn_is_not_overtaken(scene: Scene) -> None:
    """As long as the client is patient, the claim holds: nobody else finds the comment missing and posts it too."""

    def attempt() -> None:
        with pytest.raises(Retryable, match="another attempt"):
            scene.write_elsewhere("two")

    scene.sim.faults.add(COMMENTS, "secondary_limit", retry_after=19)
    scene.meanwhile.append(attempt)
    assert scene.write("one")
    assert scene.meanwhile == []
    assert scene.bodies() == [draft("one").body]


def test_c2_who_looked_for_too_long_posts_nothing(scene: Scene) -> None:
    """The claim may be another one's when the looking ends; it is renewed before anything is posted, or lost."""

    class Slow(RepoClient):
        """The first worker's client, which answers late."""

        def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]:
            found = scene.github.comments(repo, number)
            scene.wait(LEASE)
            assert scene.write_elsewhere("two")
            return found

    with pytest.raises(Retryable, match="another attempt"):
        scene.writer.write(Slow(scene.github._api, scene.github._tracker), scene.slot, draft("one"), search=True)
    assert scene.bodies() == [draft("two").body]
    assert scene.write("one")
    assert scene.bodies() == [draft("one").body]


def test_c2_a_marker_counts_only_in_the_bots_own_comment(scene: Scene) -> None:
    other = scene.sim.register_app(of_this_project(), "somebody", shared_pair())
    scene.sim.comment("acme/app", 1, "mallory", draft("a person's").body)
    scene.sim.comment("acme/app", 1, other.bot, draft("another bot's").body)
    assert scene.write("one", search=True)
    assert scene.bodies() == [draft("a person's").body, draft("another bot's").body, draft("one").body]


def test_c2_a_marker_counts_not_in_what_a_person_writes_through_the_app(scene: Scene) -> None:
    """With a token of their own that the App was given: GitHub tells the App's id of such a comment too."""
    scene.sim.comment("acme/app", 1, "mallory", draft("a person's").body)
    app_id = scene.sim.app.id

    class Through(RepoClient):
        """The client of a GitHub where that comment was written so."""

        def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]:
            return [replace(one, app_id=app_id) for one in scene.github.comments(repo, number)]

    assert scene.writer.write(Through(scene.github._api, scene.github._tracker), scene.slot, draft("one"), search=True)
    assert scene.bodies() == [draft("a person's").body, draft("one").body]


def test_c2_a_comment_that_the_store_does_not_know_is_taken_over(scene: Scene) -> None:
    scene.write("one")
    scene.store.forget(scene.slot.repo_id)
    assert scene.write("two", search=True)
    assert scene.bodies() == [draft("two").body]


def test_c2_a_comment_that_the_store_does_not_know_is_found_by_who_has_nothing_to_say_too(scene: Scene) -> None:
    """As where an issue came from another repository with its comment: what that says must not stay."""
    scene.write("one")
    scene.store.forget(scene.slot.repo_id)
    assert scene.write("nothing left", search=True, create=False)
    assert scene.bodies() == [draft("nothing left").body]


def test_c2_a_comment_that_is_younger_than_the_silence_on_record_is_found(scene: Scene) -> None:
    """As where the store is restored from a backup: what was silent then may have spoken since."""
    scene.write("one", create=False)
    scene.github.create_comment(REPO, 1, draft("one").body)
    assert scene.write("two", search=True)
    assert scene.bodies() == [draft("two").body]


@pytest.mark.slow
def test_silence_after_a_doubt_edits_what_was_written(scene: Scene) -> None:
    scene.sim.faults.add(COMMENTS, "timeout_after_write")
    with pytest.raises(Retryable):
        scene.write("one")
    scene.wait(LEASE)
    assert scene.write("nothing left", create=False)
    assert scene.bodies() == [draft("nothing left").body]


def test_an_edit_that_failed_is_done_by_the_next_attempt(scene: Scene) -> None:
    scene.write("one")
    scene.store.forget(scene.slot.repo_id)
    scene.sim.faults.add("PATCH *", status=500, times=None)
    with pytest.raises(Retryable):
        scene.write("two", search=True)
    known = scene.store.comments.get(scene.slot.repo_id, 1)
    assert known is not None
    assert known.text_hash is None, "the text counts as answered only when it is"
    scene.sim.faults.clear()
    assert scene.write("two")
    assert scene.bodies() == [draft("two").body]


def test_a_reply_that_is_no_longer_needed_is_deleted(scene: Scene) -> None:
    scene.write("one")
    scene.writer.remove(scene.github, scene.slot, "other text")
    assert scene.bodies() == []
    assert scene.write("two")
    assert scene.bodies() == [draft("two").body]


def test_c2_a_reply_that_was_written_without_an_answer_is_deleted_where_it_is_no_longer_needed(scene: Scene) -> None:
    scene.sim.faults.add(COMMENTS, "reset_after_write")
    with pytest.raises(Retryable):
        scene.write("one")
    with pytest.raises(Retryable, match="another attempt"):
        scene.writer.remove(scene.github, scene.slot, "other text")
    scene.wait(LEASE)
    scene.writer.remove(scene.github, scene.slot, "other text")
    assert scene.bodies() == []
    known = scene.store.comments.get(scene.slot.repo_id, 1)
    assert known is not None
    assert (known.state, known.text_hash) == (CommentState.SILENT, "other text")
    assert scene.write("two")
    assert scene.bodies() == [draft("two").body]
