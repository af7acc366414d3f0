"""Makes the values for the template of a repository's evaluation page. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.quality.evaluation.charts import inline
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.runs import EvaluationRun, Stage, StoredEvaluation, seconds_until_allowed


def page(stored: StoredEvaluation, threshold: float, moment: float) -> dict[str, Any]:
    """The page's values at `moment`, in seconds since 1970, with the `threshold` now in force.

    `busy`: an evaluation runs or waits. `state` describes the last run. `problem`: why that run is delayed or failed.
    `again`: when another run is allowed (None: now). `found`: the last result, from `with_threshold`. `made`: when the
    last result was made. `cuts`: the table's rows, one per threshold. `snippet`: a line for the settings, or empty.
    """
    seconds = seconds_until_allowed(stored.run, moment)
    state = {
        "busy": stored.run.stage.is_active and seconds > 0,
        "state": _state(stored.run, lost=not seconds),  # An active run counts as lost once another run is allowed.
        "problem": stored.run.problem,
        "again": moment + seconds if seconds else None,
    }
    if stored.result is None:
        return state
    found = with_threshold(stored.result, threshold)
    recommended, in_force = found.advice.threshold, found.at.cut
    rows = {row.cut: row for row in (*found.cuts, found.at)}
    names = {"recommended": recommended, "in force": in_force}
    return state | {
        "made": stored.made_at,
        "found": found,
        "pictures": inline(found),
        "cuts": [
            {"row": row, "month": found.monthly[cut], "names": [name for name, value in names.items() if value == cut]}
            for cut, row in sorted(rows.items())
        ],
        "snippet": "" if recommended in (None, in_force) else f"min_confidence: {recommended:g}",
    }


def issues_shown(stored: StoredEvaluation) -> set[int]:
    """The numbers of the issues in the listed pairs. Leaves out ids that are texts, which imported data may have."""
    unmarked = stored.result.unmarked if stored.result else ()
    return {number for pair in unmarked for number in (pair.id, pair.candidate) if isinstance(number, int)}


def with_threshold(found: Evaluation, threshold: float) -> Evaluation:
    """`found`, but with `at` (the outcome in force) for the evaluated threshold nearest to `threshold`."""
    if threshold == found.at.cut:
        return found
    return replace(found, at=min(found.curve, key=lambda row: abs(row.cut - threshold)))


def _state(run: EvaluationRun, *, lost: bool) -> str:
    if run.stage is Stage.FAILED:
        return "The last try ended early."
    if not run.stage.is_active:
        return ""
    if lost:
        return "The last try was lost on its way."
    return "Waiting for a worker." if run.stage is Stage.WAITING else "It is being evaluated, which takes some minutes."
