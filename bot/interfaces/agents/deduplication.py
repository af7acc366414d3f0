"""Deduplicates a playbook from end to end (D1–D7): read, embed, group, merge. It changes nothing before the merge."""

from __future__ import annotations

import logging
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.domain.errors import InvalidArgument
from bot.domain.merging import Group, merge
from bot.interfaces.agents.contradiction import contradictions, stance
from bot.interfaces.agents.playbook import PlaybookEntry, apply, complain, read_entries
from bot.interfaces.agents.vectors import (
    DEFAULT_THRESHOLD,
    MODELS,
    ROUNDING,
    Vectors,
    choose_model,
    components,
    embed_texts,
    unit_rows,
)

log = logging.getLogger(__name__)

VARIABLE = "AGENTIC_CONTEXT_DEDUP_THRESHOLD"

Embed = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, slots=True)
class Deduplication:
    """Groups may be single entries. `apart`: pairs of entries (positions) that only a contradiction separates (D5a)."""

    entries: tuple[PlaybookEntry, ...]
    groups: tuple[Group, ...]
    vectors: Vectors
    threshold: float
    model: str
    apart: tuple[tuple[int, int], ...] = ()

    @property
    def merged(self) -> tuple[Group, ...]:
        """The groups with more than one entry."""
        return tuple(group for group in self.groups if group.absorbed)


def deduplicate(
    playbook: Any,
    threshold: float | None,
    embed: Embed | None = None,
    *,
    slugs: Sequence[str],
    model: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Deduplication:
    """Find which entries of a playbook to merge, without changing the playbook.

    `embed` turns a list of texts into an array of vectors, one row for each text. Without `embed`, the model named
    `model` (see `vectors.MODELS`) does this; without both, the best installed model. Without `threshold`, VARIABLE in
    `environ` applies; without both, the model's own threshold, or DEFAULT_THRESHOLD for `embed` (D4). `slugs` orders
    sections. Raises MalformedPlaybook, InvalidArgument, ValueError for wrong vectors, and the model's errors.
    """
    entries = tuple(read_entries(playbook, slugs))
    if len(entries) < 2:
        # D6: do not load a model, nor even look for one.
        groups = tuple(merge(range(len(entries)), [one.helpful for one in entries], [one.harmful for one in entries]))
        return Deduplication(entries, groups, np.zeros((len(entries), 0), np.float32), DEFAULT_THRESHOLD, "")
    texts = [entry.text for entry in entries]
    if embed is not None:
        name, default, embed_all = "the caller's", DEFAULT_THRESHOLD, embed
    else:
        chosen, best = choose_model(model), next(iter(MODELS))
        if model is None and chosen.name != best:
            complain(f"{best} is not installed; {chosen.name} stands in")
        name, default = chosen.name, chosen.threshold
        embed_all = partial(embed_texts, chosen.make())
    limit = choose_threshold(threshold, environ, default)
    vectors = unit_rows(embed_all(texts), len(texts))
    log.info("%d entries are compared by the model %s at threshold %.2f", len(texts), name, limit)
    labels, apart = _separate_contradictions(components(vectors, limit), vectors, texts, limit)
    groups = tuple(merge(labels.tolist(), [one.helpful for one in entries], [one.harmful for one in entries]))
    return Deduplication(entries, groups, vectors, limit, name, tuple(apart))


def _separate_contradictions(
    labels: NDArray[np.int32], vectors: Vectors, texts: Sequence[str], limit: float
) -> tuple[NDArray[np.int32], list[tuple[int, int]]]:
    """D5a: split the groups so that none contains a contradiction. Return the labels and the contradicting pairs.

    In each old group, entries without a contradiction are grouped anew. Contradicting entries form new groups: each
    entry in turn merges with every new group that has a similar entry, unless `_must_stay_apart` forbids the merge. A
    label is the lowest position in a group. `vectors` has one row for each entry.
    """
    apart = []
    for label, size in zip(*np.unique(labels, return_counts=True), strict=True):
        if size == 1:
            continue
        members = np.flatnonzero(labels == label)
        pairs = list(contradictions([stance(texts[one]) for one in members.tolist()]))
        against: dict[int, set[int]] = defaultdict(set)
        for pair in pairs:
            # A pair has two positions in `members`. `one` and `other` are positions of entries.
            one, other = map(int, members[list(pair)])
            against[one].add(other)
            against[other].add(one)
            apart.append((one, other))
        if not pairs:
            continue
        free = members[~np.isin(members, list(against))]
        if len(free):
            # `components` gives positions within `free`.
            labels[free] = free[components(vectors[free], limit)]
        separate = _must_stay_apart(against, vectors, limit)
        groups: list[list[int]] = []
        for entry in sorted(against):
            joined = [entry]
            for group in list(groups):
                alike = (vectors[group] @ vectors[entry] >= limit - ROUNDING).any()
                if alike and all(separate[one].isdisjoint(joined) for one in group):
                    joined += group
                    groups.remove(group)
            groups.append(joined)
        for group in groups:
            labels[group] = min(group)
    return labels, sorted(apart)


def _must_stay_apart(against: Mapping[int, set[int]], vectors: Vectors, limit: float) -> dict[int, set[int]]:
    """For each contradicting entry, the entries that its group must not contain.

    Entries that contradict each other stay apart (`against`). If an entry is similar to both sides of a contradiction,
    and contradicts neither side, the entry also stays apart from both sides.
    """
    separate = {entry: set(others) for entry, others in against.items()}
    positions = sorted(against)
    rows = vectors[positions]
    for entry in positions:
        alike = rows @ vectors[entry] >= limit - ROUNDING
        agreeing = {positions[place] for place in np.flatnonzero(alike)} - against[entry]
        for other in agreeing:
            if against[other] & agreeing:
                separate[entry].add(other)
                separate[other].add(entry)
    return separate


def run(playbook: Any, threshold: float | None, embed: Embed | None, slugs: Sequence[str]) -> Any:
    """Deduplicate in place, and return the playbook. After an error, return it unchanged (D5)."""
    try:
        found = deduplicate(playbook, threshold, embed, slugs=slugs)
        if found.merged:
            apply(playbook, found.entries, found.groups)
    except Exception as problem:
        complain(f"the playbook is left as it is: {type(problem).__name__}", problem)
    return playbook


def choose_threshold(explicit: float | None, environ: Mapping[str, str], default: float) -> float:
    """D4: `explicit`, else VARIABLE, else `default`; clamped to [0, 1]. Reports and ignores an invalid variable."""
    if explicit is not None:
        # Accept NumPy's numbers too, but not a bool, which Python counts as a number.
        try:
            value = math.nan if isinstance(explicit, bool | str | bytes) else float(explicit)
        except (TypeError, ValueError):
            value = math.nan
        if math.isnan(value):
            raise InvalidArgument("threshold", f"{explicit!r} is not a number")
        return _clamped(value)
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        complain(f"{VARIABLE}: {text[:40]!r} is not a number from 0 to 1, and is ignored")
        return default
    return _clamped(value)


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True)
class Absorbed:
    """An entry that was merged into the survivor, with the cosine similarity of the two.

    If the similarity is below the threshold, `through` is the most similar entry in the group, and `link` is the
    similarity to that entry (D2).
    """

    entry: PlaybookEntry
    similarity: float
    through: PlaybookEntry | None
    link: float | None


@dataclass(frozen=True, slots=True)
class Merge:
    """The surviving entry as it was before the merge, its new counters, and the entries that it absorbed."""

    survivor: PlaybookEntry
    helpful: int
    harmful: int
    absorbed: tuple[Absorbed, ...]


def describe_merges(found: Deduplication) -> Iterator[Merge]:
    """Every merge, in the order of the survivors. May be called before or after the playbook is changed."""
    for group in found.merged:
        absorbed = tuple(_absorbed(found, group, position) for position in group.absorbed)
        yield Merge(found.entries[group.survivor], group.helpful, group.harmful, absorbed)


def _absorbed(found: Deduplication, group: Group, position: int) -> Absorbed:
    entry, similarity = found.entries[position], float(found.vectors[group.survivor] @ found.vectors[position])
    if similarity >= found.threshold - ROUNDING:
        return Absorbed(entry, similarity, None, None)
    others = [member for member in group.members if member != position]
    links = found.vectors[others] @ found.vectors[position]
    return Absorbed(entry, similarity, found.entries[others[int(links.argmax())]], float(links.max()))
