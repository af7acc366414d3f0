"""Asks for each issue which earlier one it repeats, as the bot does for a new issue.

Many issues are shared out to several processes, which read the index. This process stores their answers.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing

from bot.domain.entities import Issue, RepoRef
from bot.domain.formats import batches
from bot.platform.processes import end_with_parent, held_back
from bot.quality.scanning.pairs import Answer, Found
from bot.search.index import Index, View
from bot.search.matching import Matcher, Model

#: Asks about many issues of a backlog, part by part.
AskAll = Callable[[Sequence[int]], Iterable[list[Answer]]]

#: How many candidates an answer keeps, and their least confidence, below which no threshold can be set.
MOST, LEAST = 20, 0.05

# Issues that are read from the index at once.
_AT_ONCE = 50
# An issue needs a repository's name, but the index goes by the id.
_ANYWHERE = RepoRef("scan", "scan")


class Asker:
    """Asks about issues of the index. Cheap to build, without state of its own."""

    def __init__(self, index: Index, model: Model) -> None:
        self._index = index
        self._matcher = Matcher(index, model, most=None)
        self._weights = model.digest

    def close(self) -> None:
        """Close the index's connections."""
        self._index.close()

    def version(self, repo_id: int) -> str:
        """The version of the weights and of the vectors' model; answers of another version are outdated."""
        with self._index.view(repo_id) as view:
            return self._version(view)

    def ask(self, repo_id: int, numbers: Sequence[int]) -> list[Answer]:
        """An answer for each of the issues that are (still) in the index."""
        answers = []
        for part in batches(numbers, _AT_ONCE):
            with self._index.view(repo_id) as view:
                # Read before the texts, so that a later change makes the answer outdated.
                sequence, version = view.state.sequence, self._version(view)
                issues, texts = view.issues(part), view.texts(part)
            for number in part:
                if number in issues and number in texts:
                    target = issues[number]._replace(body=texts[number][1]).issue(_ANYWHERE, "")
                    answers.append(Answer(number, sequence, version, self._found(repo_id, target)))
        return answers

    def _version(self, view: View) -> str:
        return f"{self._weights} {view.state.model}".rstrip()

    def _found(self, repo_id: int, target: Issue) -> tuple[Found, ...]:
        with self._matcher.session(repo_id, target, below=target.number, stored=True) as session:
            found = []
            # Among equals the latest first, so that copies form one group, however many there are.
            matches = sorted(session.judge(), key=lambda match: (-match.confidence, -match.number))
            for match in matches[:MOST]:
                if match.confidence >= LEAST:
                    found.append(Found(match.number, match.confidence, match.reasons))
            return tuple(found)


#: Issues that a process gets at once: less than a second's work in a repository of 17,000, lost when it is stopped.
PART = 20
#: Up to this many are asked about in this process, because starting others would take longer.
FEW = 50

_asker: Asker | None = None


def ask_in_processes(
    make: Callable[[], Asker], repo_id: int, numbers: Sequence[int], processes: int
) -> Iterator[list[Answer]]:
    """Yield answers part by part, in no order. `make` is pickled, and called once in each process.

    If you leave the iteration early, each process stops after its present part.
    """
    parts = list(batches(numbers, PART))
    if len(numbers) <= FEW:
        with closing(make()) as asker:
            for part in parts:
                yield asker.ask(repo_id, part)
        return
    context = multiprocessing.get_context("spawn")
    with held_back(signal.SIGTERM):
        pool = ProcessPoolExecutor(min(processes, len(parts)) or 1, context, _begin, (make,))
    try:
        # The pool starts processes when it gets work.
        with held_back(signal.SIGTERM):
            asked = [pool.submit(_ask, repo_id, part) for part in parts]
        for done in as_completed(asked):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(make: Callable[[], Asker]) -> None:
    global _asker
    end_with_parent()
    _asker = make()


def _ask(repo_id: int, numbers: Sequence[int]) -> list[Answer]:
    assert _asker is not None
    return _asker.ask(repo_id, numbers)
