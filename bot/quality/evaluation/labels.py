"""What a file of past issues says of duplicates. Training and evaluation read it; a replay never does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.domain.errors import UserError
from bot.quality.evaluation.metrics import Id
from bot.quality.feedback import UNDECIDED, Decided
from bot.quality.replay.archive import PastIssue, read_rows
from bot.search.ranking.grouping import components

WARM = 0.2
"""The share of issues that only arrive before the first is judged."""


@dataclass(frozen=True, slots=True)
class Labels:
    """`group` joins issues that report the same thing; `marked` ones are called duplicates, of whatever.

    `doubtful` ones may be duplicates of something that is not known, `named` ones name their original in their text,
    and `astray` is the `duplicate_of` of those where it is no other issue's id here.
    """

    group: Mapping[Id, Id]
    marked: frozenset[Id]
    doubtful: frozenset[Id]
    named: frozenset[Id]
    astray: Mapping[Id, Id]


def read_labels(path: Path) -> Labels:
    """The labels of a file that `bot.quality.replay.read_archive` could read. Raises UserError as `labels_of` does."""
    try:
        return labels_of([row for row, _ in read_rows(path)])
    except UserError as problem:
        raise UserError(f"{path}: {problem}") from None


def labels_of(rows: Sequence[Mapping[str, Any]], decided: Decided = UNDECIDED) -> Labels:
    """The labels in rows: `duplicate_of`, and where they apply `maybe_related`, `dup_unknown_master`,
    `body_mentions_master`. A group is what the links of `duplicate_of` join, whichever way they point. Raises UserError
    naming the issue whose `duplicate_of` cannot be an id.

    What people `decided` about pairs counts as well: the later of two that are the same is a duplicate, and a mark that
    they contradict leaves its issue in doubt. The rows are in the order of arrival then.
    """
    for row in rows:
        of = row.get("duplicate_of")
        if isinstance(of, bool) or not isinstance(of, int | str | None):
            raise UserError(f"duplicate_of of the issue {row['id']!r} is neither a number nor a string")
    ids: dict[Id, None] = dict.fromkeys(row["id"] for row in rows)
    links = {row["id"]: row["duplicate_of"] for row in rows if row.get("duplicate_of") in ids}
    contradicted = {id for id, of in links.items() if {(id, of), (of, id)} & decided.different}
    place = {id: at for at, id in enumerate(ids)}
    agreed = [pair for pair in decided.same if place.keys() >= set(pair)]
    marked = {row["id"] for row in rows if row.get("duplicate_of") is not None} - contradicted
    doubtful = {row["id"] for row in rows if row.get("maybe_related") or row.get("dup_unknown_master")}
    return Labels(
        components(ids, [*((id, of) for id, of in links.items() if id not in contradicted), *agreed]),
        frozenset(marked | {max(pair, key=place.__getitem__) for pair in agreed}),
        frozenset(doubtful | contradicted),
        frozenset(row["id"] for row in rows if row.get("body_mentions_master")),
        {
            row["id"]: of
            for row in rows
            if (of := row.get("duplicate_of")) is not None and (of not in ids or of == row["id"])
        },
    )


def truth(issues: Sequence[PastIssue], labels: Labels, warm: float) -> Iterator[tuple[int, frozenset[Id] | None]]:
    """What should have been found at each arrival that can be judged: its position and its originals.

    The originals of a duplicate are the members of its group that came before it; None stands for an issue that is
    nobody's duplicate, about which the bot should stay silent. Nothing is said of arrivals in the first `warm` share,
    of doubtful ones, of duplicates without a known original and of those that name it themselves.
    """
    size = Counter(labels.group[issue.id] for issue in issues)
    earlier: dict[Id, list[Id]] = {}
    for position, issue in enumerate(issues):
        members = earlier.setdefault(labels.group[issue.id], [])
        originals = frozenset(members)
        members.append(issue.id)
        if position < int(len(issues) * warm):
            continue
        # Marked, and alone in its group: its original is not in the file.
        lost = issue.id in labels.marked and size[labels.group[issue.id]] == 1
        if originals and issue.id in labels.marked and issue.id not in labels.named:
            yield position, originals
        if not originals and not lost and issue.id not in labels.doubtful:
            yield position, None


def to_learn_from(issues: Sequence[PastIssue], labels: Labels, others: int, seed: int) -> dict[int, float]:
    """Positions of the issues to learn from → how many each stands for: every duplicate, and a sample of the others."""
    known = dict(truth(issues, labels, WARM))
    repeated = [n for n, originals in known.items() if originals]
    fresh = [n for n, originals in known.items() if originals is None]
    sample = random.Random(seed).sample(fresh, min(others, len(fresh)))  # noqa: S311 - a sample, no secret
    return dict.fromkeys(repeated, 1.0) | dict.fromkeys(sample, len(fresh) / max(len(sample), 1))
