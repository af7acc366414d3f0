"""A worker that stood still while another did its work: when it goes on, nothing is doubled and nothing goes back (C2).

Its claim of a comment is over by then, and it does not know that. GitHub cannot be asked to refuse what comes late, so
that it is found out afterwards and mended.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from bot.conversation.comments import LEASE
from bot.domain.entities import Comment, RepoRef
from bot.domain.errors import Overtaken, Retryable
from bot.github.repository import RepoClient
from bot.platform.lease import working_under_lease
from bot.storage import CommentState
from tests.posts.test_comments import Scene, draft
from tests.posts.test_comments import scene as scene
from tests.waiting import LONGEST


class Frozen(RepoClient):
    """The client of a worker that stands still just before a write of its reaches GitHub, or (`late`) just after."""

    def __init__(self, github: RepoClient, meanwhile: Callable[[], object], late: bool = False) -> None:
        super().__init__(github._api, github._tracker)
        self.meanwhile, self.late = meanwhile, late

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        return self._around(lambda: RepoClient.create_comment(self, repo, number, body))

    def update_comment(self, repo: RepoRef, comment_id: int, body: str) -> Comment:
        return self._around(lambda: RepoClient.update_comment(self, repo, comment_id, body))

    def _around(self, write: Callable[[], Comment]) -> Comment:
        if self.late:
            written = write()
            self.meanwhile()
            return written
        self.meanwhile()
        return write()


def frozen(scene: Scene, meanwhile: Callable[[], object], *, late: bool = False) -> Frozen:
    """Whoever stands still does so for longer than its claim holds."""

    def thaw() -> None:
        scene.wait(LEASE)
        meanwhile()

    return Frozen(scene.github, thaw, late)


def write(scene: Scene, client: Frozen, text: str) -> bool:
    return scene.writer.write(client, scene.slot, draft(text))


def test_c2_a_comment_that_comes_after_anothers_is_taken_back(scene: Scene) -> None:
    assert write(scene, frozen(scene, lambda: scene.write_elsewhere("two")), "one")
    assert scene.bodies() == [draft("two").body]
    assert scene.write("three")
    assert scene.bodies() == [draft("three").body]


def test_c2_where_it_cannot_be_taken_back_the_next_attempt_does(scene: Scene) -> None:
    scene.sim.faults.add("DELETE *", status=500, times=None)
    with pytest.raises(Retryable):
        write(scene, frozen(scene, lambda: scene.write_elsewhere("two")), "one")
    assert len(scene.bodies()) == 2
    scene.sim.faults.clear()
    assert scene.write("three")
    assert scene.bodies() == [draft("three").body]


def test_c2_of_two_that_post_at_the_same_time_one_comment_is_left(scene: Scene) -> None:
    """Each sees that the other has claimed the comment, and neither whether the other has posted it."""
    looked, ended = Event(), Event()

    def first() -> None:
        try:
            # It stands still until the other has looked and found nothing.
            write(scene, frozen(scene, lambda: (begin.set(), looked.wait(LONGEST))), "one")
        finally:
            ended.set()

    def second() -> None:
        scene.writer.write(Frozen(scene.other, lambda: (looked.set(), ended.wait(LONGEST))), scene.slot, draft("two"))

    begin = Event()
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first)
        assert begin.wait(LONGEST)
        two = pool.submit(second)
        for attempt in (one, two):
            with pytest.raises(Retryable):
                attempt.result(LONGEST)
    assert scene.write("three")
    assert scene.bodies() == [draft("three").body]


def test_c2_a_comment_that_comes_after_a_silence_is_looked_at_again(scene: Scene) -> None:
    client = frozen(scene, lambda: scene.writer.write(scene.other, scene.slot, draft("nothing"), create=False))
    with pytest.raises(Retryable):
        write(scene, client, "one")
    known = scene.store.comments.get(scene.slot.repo_id, 1)
    assert known is not None
    assert known.text_hash is None, "the text does not count as answered, or nobody would look"
    assert scene.write("nothing left", create=False)
    assert scene.bodies() == [draft("nothing left").body]


def test_c1_a_comment_that_comes_after_a_maintainer_deleted_the_others_is_taken_back(scene: Scene) -> None:
    def meanwhile() -> None:
        scene.write_elsewhere("two")
        (comment,) = scene.sim.comments("acme/app", 1)
        scene.sim.delete_comment(comment, "admin")
        scene.store.comments.mark_deleted(scene.slot.repo_id, 1, comment.id, scene.sim.clock.timestamp())

    assert not write(scene, frozen(scene, meanwhile), "one")
    assert scene.bodies() == []


def test_c2_what_another_found_and_edited_is_known_as_the_other_left_it(scene: Scene) -> None:
    assert write(scene, frozen(scene, lambda: scene.write_elsewhere("two"), late=True), "one")
    assert scene.bodies() == [draft("two").body]
    assert scene.write("one")
    assert scene.bodies() == [draft("one").body]


@pytest.mark.parametrize("late", [False, True])
def test_an_edit_that_another_overtook_is_done_again(scene: Scene, late: bool) -> None:
    """Which of the two came last is not known, so that neither counts as done."""
    scene.write("zero")
    with pytest.raises(Retryable):
        write(scene, frozen(scene, lambda: scene.write_elsewhere("two"), late=late), "one")
    known = scene.store.comments.get(scene.slot.repo_id, 1)
    assert known is not None
    assert (known.state, known.text_hash) == (CommentState.POSTED, None)
    assert scene.write("two")
    assert scene.bodies() == [draft("two").body]


def test_c2_a_claim_is_given_back_by_whom_it_is_no_longer_the_work(scene: Scene) -> None:
    """Nothing was written, and who does the work now need not wait until the claim is over."""
    with working_under_lease(lambda: False), pytest.raises(Overtaken):
        scene.write("one")
    assert scene.write_elsewhere("two")
    assert scene.bodies() == [draft("two").body]


def test_c2_what_was_on_its_way_when_the_lease_was_lost_is_taken_away_again(scene: Scene) -> None:
    """Its lease was checked just before the worker stood still; by now the work is another's, but no other knows."""
    lost: list[bool] = []

    def meanwhile() -> None:
        scene.write_elsewhere("two")
        lost.append(True)

    class OnItsWay(Frozen):
        def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
            with working_under_lease(lambda: True):
                return super().create_comment(repo, number, body)

    def thaw() -> None:
        scene.wait(LEASE)
        meanwhile()

    with working_under_lease(lambda: not lost):
        assert write(scene, OnItsWay(scene.github, thaw), "one")
    assert scene.bodies() == [draft("two").body]


def test_c2_a_reply_that_is_taken_away_late_leaves_the_next_one_known(scene: Scene) -> None:
    """Between two deletions of one comment another worker has put a second in its place."""
    scene.write("one")

    def meanwhile(*_: object) -> None:
        scene.writer.remove(scene.other, scene.slot, "other text")
        scene.write_elsewhere("two")

    class Late(Frozen):
        def delete_comment(self, repo: RepoRef, comment_id: int) -> None:
            self.meanwhile()
            super().delete_comment(repo, comment_id)

    scene.writer.remove(Late(scene.github, meanwhile), scene.slot, "other text")
    assert scene.write("three")
    assert scene.bodies() == [draft("three").body]


def test_what_was_forgotten_meanwhile_is_not_kept_again(scene: Scene) -> None:
    """The issue was deleted, say, and what was known of it with it (C6a)."""
    write(scene, frozen(scene, lambda: scene.store.forget(scene.slot.repo_id)), "one")
    assert scene.store.comments.get(scene.slot.repo_id, 1) is None
