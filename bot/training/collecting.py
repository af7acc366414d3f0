"""What files have to teach: their issues, compared as they arrived with those before them.

Several are read side by side, a process each, while somebody is told how far that is.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from bot.errors import UserError
from bot.evaluation.labels import Labels, read_labels, to_learn_from
from bot.index.postings.packing import Integers
from bot.machine.pools import at_work, end_with_parent, held_back
from bot.matching.retrieval import known_author
from bot.model import Issue
from bot.replay import PastIssue, read_archive
from bot.training.arrival import Arrival, Repository, opened
from bot.training.readings import Read, Reading, read_readings
from bot.training.small import beginning, grown_from, small_repositories

#: Is told of so many issues that are to be looked at, and so many that have been, since it was told last.
Progress = Callable[[int, int], None]

#: What is wrong with files that teach nothing.
TOO_FEW = "too few issues there are known as duplicates (duplicate_of) of one that came before them"

_PATIENCE_SECONDS = 0.2

# Of a process that reads one of several files.
_told: Queue[tuple[int, int]] | None = None
_over: Event | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """A file of issues to learn from; what careful readers said of them, if they did; and the folder of a text model
    that was not tuned on them, by which what they read is compared (None: the one that Doppel comes with).
    """

    issues: Path
    readings: Path | None = None
    text_model: Path | None = None


def collect_all(files: Sequence[Material], progress: Progress, *, others: int, seed: int) -> list[list[Arrival]]:
    """The arrivals of each file. Raises what `collect` raises."""
    one = partial(collect, others=others, seed=seed)
    # For a single one no other process is worth its start.
    return side_by_side(one, files, progress) if len(files) > 1 else [one(files[0], progress)]


def side_by_side(
    one: Callable[[Material, Progress], list[Arrival]], files: Sequence[Material], progress: Progress
) -> list[list[Arrival]]:
    """What `one` makes of each file, in a process each. Raises what it raises for any of them, at once: the others are
    told to end where they tell of their progress.
    """
    context = multiprocessing.get_context("spawn")
    # The helper of multiprocessing's, which this starts, must not hear a signal that all are sent.
    with held_back(signal.SIGTERM):
        told: Queue[tuple[int, int]] = context.Queue()
        over = context.Event()
    with ProcessPoolExecutor(mp_context=context, initializer=_begin, initargs=(told, over)) as pool:
        try:
            # The processes are started where they are given something to do.
            with held_back(signal.SIGTERM):
                parts = [pool.submit(at_work, one, material, _tell) for material in files]
            waiting = True
            while waiting:
                waiting = not all(part.done() for part in parts)
                with suppress(queue.Empty):
                    progress(*told.get(timeout=_PATIENCE_SECONDS))
                    while True:
                        progress(*told.get_nowait())
                # A file that cannot be read is told of now, and not when the others have been read for hours.
                for part in parts:
                    if part.done():
                        part.result()
        except (KeyboardInterrupt, Exception):
            # Whoever has something to tell stops, and puts away what it has made.
            over.set()
            pool.shutdown(cancel_futures=True)
            raise
        return [part.result() for part in parts]


def _begin(told: Queue[tuple[int, int]], over: Event) -> None:
    global _told, _over
    end_with_parent()
    # Whoever was to be told may be gone.
    told.cancel_join_thread()
    _told, _over = told, over


def _tell(to_do: int, done: int) -> None:
    """Tell the process that waits. Where all is to end it is the work that fails, which nobody asks about any more."""
    parent = multiprocessing.parent_process()
    assert _told is not None and _over is not None and parent is not None, "somebody has started this process"
    if _over.is_set() or not parent.is_alive():
        raise RuntimeError("all is to end")
    _told.put((to_do, done))


def collect(material: Material, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """What one file has to teach: duplicates, the first issues, a seeded sample of the others, and what was read."""
    issues, labels = read_archive(material.issues), read_labels(material.issues)
    said = read_readings(material.readings) if material.readings else {}
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    read = {position: said[str(past.id)] for position, past in enumerate(issues) if str(past.id) in said}
    if said and not read:
        raise UserError(f"{material.readings}: none of the issues that were read is in {material.issues}")
    progress(len(chosen.keys() | read.keys()), 0)
    with opened(material.text_model) as repository:
        arrivals = list(_compared(repository, issues, labels, chosen, read, progress))
    if not read:
        return arrivals
    return [*arrivals, *small_repositories(material.text_model, issues, labels, progress, seed)]


def _compared(
    repository: Repository,
    issues: Sequence[PastIssue],
    labels: Labels,
    chosen: Mapping[int, float],
    read: Mapping[int, Reading],
    progress: Progress,
) -> Iterator[Arrival]:
    """The chosen issues in order; those without candidates teach nothing."""
    grown = grown_from(issues)
    for position, past in enumerate(issues):
        issue = repository.arrive(past)
        if position in chosen or position in read:
            numbers, values = repository.compared(issue)
            ids = [issues[number - 1].id for number in numbers.tolist()]
            same = [float(labels.group[id] == labels.group[past.id]) for id in ids]
            if same:
                said = _read(repository, issue, numbers, ids, read[position]) if position in read else None
                back, young = position - numbers, position < grown
                yield Arrival(position, values, back, np.array(same), chosen.get(position, 0.0), young, said)
            progress(0, 1)
        repository.keep(issue)


def _read(
    repository: Repository, issue: Issue, numbers: Integers, ids: Sequence[int | str], said: Reading
) -> Read | None:
    """What was said of those of the candidates that were read; None where none of them is among these."""
    places = np.array([place for place, id in enumerate(ids) if str(id) in said.same], dtype=np.int64)
    if not len(places):
        return None
    same = np.array([float(said.same[str(ids[place])]) for place in places.tolist()])
    likeness = repository.likeness(issue, numbers, places)
    return Read(same, likeness, said.weight, signed=bool(known_author(issue.author)))
