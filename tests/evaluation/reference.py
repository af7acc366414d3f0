"""The protocol for known duplicates once more, slowly and literally: what bot/quality/evaluation must agree with.

Each figure is computed from its definition, by looking at everything again for every arrival and every threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Found = Mapping[Any, Sequence[tuple[Any, float]]]


def alike(rows: Sequence[Row], one: Any) -> set[Any]:
    """Everything that can be reached from `one` over links of `duplicate_of`, in either direction."""
    known = {row["id"] for row in rows}
    links = [(row["id"], row["duplicate_of"]) for row in rows if row.get("duplicate_of") in known]
    reached = {one}
    while True:
        more = {b for a, b in links if a in reached} | {a for a, b in links if b in reached}
        if more <= reached:
            return reached
        reached |= more


def truths(rows: Sequence[Row], warm: float) -> dict[Any, set[Any] | None]:
    """Of each arrival that is judged the originals, None for one that repeats nothing."""
    ordered = sorted(rows, key=lambda row: (row["created_at"], str(row["id"]).zfill(12)))
    found: dict[Any, set[Any] | None] = {}
    for place, row in enumerate(ordered):
        group = alike(rows, row["id"])
        originals = group & {earlier["id"] for earlier in ordered[:place]}
        marked = row.get("duplicate_of") is not None
        if place < int(len(rows) * warm):
            continue
        doubtful = row.get("maybe_related") or row.get("dup_unknown_master")
        if originals and marked and not row.get("body_mentions_master"):
            found[row["id"]] = originals
        if not originals and not doubtful and (not marked or len(group) > 1):
            found[row["id"]] = None
    return found


def figures(rows: Sequence[Row], found: Found, warm: float) -> dict[str, Any]:
    """All figures by name."""
    truth = truths(rows, warm)
    answers = {id: list(found.get(id, ())) for id in truth}
    queries = [id for id, originals in truth.items() if originals is not None]
    silent = [id for id, originals in truth.items() if originals is None]
    result: dict[str, Any] = {"queries": len(queries), "silent": len(silent)}
    for k in (1, 5, 10, 20):
        hits = [any(other in (truth[id] or ()) for other, _ in answers[id][:k]) for id in queries]
        result[f"RR@{k}"] = mean(hits)
    reciprocal = []
    for id in queries:
        places = [place for place, (other, _) in enumerate(answers[id], 1) if other in (truth[id] or ())]
        reciprocal.append(1 / min(places) if places else 0.0)
    result["MRR"] = mean(reciprocal)
    tops = [(answers[id][0][1], answers[id][0][0] in (truth[id] or ())) for id in truth if answers[id]]
    result["ECE"] = ece(tops)
    high = [top for top in tops if top[0] >= 0.3]
    result["ECE above .3"] = ece(high) if high else None
    base = mean([right for _, right in tops])
    flat = sum((base - right) ** 2 for _, right in tops)
    result["Brier skill"] = 1 - sum((sure - right) ** 2 for sure, right in tops) / flat if flat else None
    for share in (0.01, 0.02, 0.05, 0.1):
        allowed = int(share * len(silent))
        tried = sorted(0.0 if allowed >= len(silent) else sure + 1e-9 for sure in {0.0, *_confidences(answers, silent)})
        cut = next(cut for cut in tried if sum(speaks(answers[id], cut) for id in silent) <= allowed)
        result[f"at {share}"] = spoken(truth, answers, cut)
    result["cuts"] = [spoken(truth, answers, step / 20) for step in range(1, 20)]
    return result


def speaks(found: Sequence[tuple[Any, float]], cut: float) -> bool:
    return any(sure >= cut for _, sure in found)


def _confidences(answers: Found, ids: Sequence[Any]) -> set[float]:
    return {sure for id in ids for _, sure in answers[id]}


def spoken(truth: Mapping[Any, set[Any] | None], answers: Found, cut: float) -> tuple[float | None, ...]:
    """Comments, precision, caught, false alarms at one threshold."""
    shown = {id: [other for other, sure in answers[id] if sure >= cut][:5] for id in truth}
    comments = [id for id in truth if shown[id]]
    right = [id for id in comments if set(shown[id]) & (truth[id] or set())]
    queries = [id for id in truth if truth[id] is not None]
    bothered = [id for id in comments if truth[id] is None]
    others = len(truth) - len(queries)
    return (
        len(comments),
        len(right) / len(comments) if comments else None,
        len(right) / max(len(queries), 1),
        len(bothered) / max(others, 1),
    )


def ece(tops: Sequence[tuple[float, bool]]) -> float:
    """Ten bins of equal width; the last holds 1.0, too."""
    total = 0.0
    for tenth in range(10):
        inside = [top for top in tops if min(9, int(top[0] * 10)) == tenth]
        if inside:
            gap = abs(mean([sure for sure, _ in inside]) - mean([right for _, right in inside]))
            total += gap * len(inside) / len(tops)
    return total


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
