"""How an evaluation reaches this host's store, and what it is made from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from bot.evaluation.apart import Wanted, evaluate_apart
from bot.evaluation.history import PastRecord
from bot.evaluation.history_file import erase_history
from bot.evaluation.marks import Marks
from bot.evaluation.report import Evaluation
from bot.evaluation.runs import Runs
from bot.feedback.decided import UNDECIDED, Decided
from bot.feedback.reading import decided_in
from bot.model import RepoRef
from bot.settings import Settings
from bot.store import open_store
from bot.wiring.clients import now
from bot.wiring.indexes import store_there


def keep_evaluation(settings: Settings, repo: RepoRef, result: Evaluation) -> None:
    """Keep the command line's result for the dashboard, where this host knows the repository."""
    with store_there(settings) as store:
        known = store.repositories.by_name(repo) if store else None
        if store is not None and known is not None:
            Runs(store.engine).keep(known.id, result, now().timestamp())


def known_decided(settings: Settings, repo: RepoRef) -> Decided:
    """What people decided about pairs of a repository's issues, as far as this host knows the repository."""
    with store_there(settings) as store:
        known = store.repositories.by_name(repo) if store else None
        return decided_in(store, known.id) if store and known else UNDECIDED


@contextmanager
def history_erased_if_ended(settings: Settings, repo: RepoRef) -> Iterator[None]:
    """The reading of a repository's history into this machine's files, which takes hours for a large one: what stays
    if this host's access ends meanwhile goes at the end (C6a).

    The history of a repository that this host never had is read in the name of whoever asks, and stays theirs.
    """
    with store_there(settings) as store:
        known = store.repositories.by_name(repo) if store else None
        try:
            yield
        finally:
            if store is not None and known is not None and store.repositories.get(known.id) is None:
                erase_history(settings.home, known.id)


def evaluate_stored(
    settings: Settings, repo_id: int, repo: RepoRef, bar: float, tell: Callable[[int, int], None]
) -> Evaluation:
    """What `bot.evaluation.apart` makes of the issues that this host has of a repository."""
    with closing(open_store(settings)) as store:
        decided = decided_in(store, repo_id)
    return evaluate_apart(Wanted(partial(stored_history, settings, repo_id), repo, bar, decided), tell)


def stored_history(settings: Settings, repo_id: int) -> Iterator[PastRecord]:
    """A repository's issues as the index has them, with what was said of each; for a process of its own."""
    with closing(open_store(settings)) as store:
        yield from Marks(store.engine).history(repo_id)
