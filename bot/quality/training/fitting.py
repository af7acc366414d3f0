"""Fits linear models by Newton's method, with standardised features and an L2 penalty.

The penalty pulls each weight towards its prior, by default zero. A feature that never varies keeps its prior.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.search.index.arrays import Floats

# The most steps of Newton's method, and the smallest fraction of a step that is worth trying.
_MOST_STEPS, _LEAST_FRACTION = 50, 1e-6
# `fit_probability` clips standardised values at this value, so that no single example dominates.
_FAR = 8.0


@dataclass(frozen=True, slots=True)
class Fitted:
    weights: Mapping[str, float]
    intercept: float

    def scores(self, rows: Floats) -> Floats:
        scores: Floats = rows @ np.array(list(self.weights.values())) + self.intercept
        return scores

    def data(self) -> dict[str, object]:
        return {"intercept": self.intercept, "weights": dict(self.weights)}


def fit_order(
    names: Sequence[str], rows: Floats, same: Floats, sizes: Sequence[int], l2: float, prior: Mapping[str, float]
) -> Fitted:
    """Fit weights that order the candidates of a question, the issue for which duplicates are sought.

    The weights make true candidates (duplicates) most probable in a softmax over their question's candidates. `rows` is
    (all candidates, names), question by question; `sizes` counts each question's candidates. `same` is 1 for a true
    candidate; each question has at least one. The model is a conditional logit (McFadden, 1974), without intercept.
    """
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    inputs = (rows - mean) / scale
    priors = np.array([prior.get(name, 0.0) for name in names]) * scale
    # The first row of each question, and the question of each row.
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    question = np.repeat(np.arange(len(sizes)), sizes)

    def loss_and_chances(beta: Floats) -> tuple[float, Floats, Floats]:
        """The loss, each row's chance among its question's candidates, and its chance among the true candidates."""
        scores = inputs @ beta
        # Subtract each question's highest score, so that no `exp` overflows.
        powers = np.exp(scores - np.maximum.reduceat(scores, firsts)[question])
        totals, true_totals = np.add.reduceat(powers, firsts), np.add.reduceat(powers * same, firsts)
        loss = np.log(totals / true_totals).sum() + l2 / 2 * ((beta - priors) ** 2).sum()
        return float(loss), powers / totals[question], powers * same / true_totals[question]

    def step(beta: Floats) -> Floats:
        _, chance, true_chance = loss_and_chances(beta)
        mean_inputs = np.add.reduceat(inputs * chance[:, None], firsts, axis=0)
        # This leaves out the Hessian's term for the true candidates: with that term, the curvature could be negative.
        curvature = (inputs * chance[:, None]).T @ inputs - mean_inputs.T @ mean_inputs + l2 * np.eye(len(beta))
        return np.asarray(np.linalg.solve(curvature, inputs.T @ (chance - true_chance) + l2 * (beta - priors)))

    beta = _descend(priors, step, lambda beta: loss_and_chances(beta)[0])
    return _fitted(names, beta / scale, 0.0)


def fit_probability(
    names: Sequence[str], rows: Floats, same: Floats, weight: Floats, l2: float, prior: Mapping[str, float]
) -> Fitted:
    """Fit a logistic regression to `rows`, (candidates, names). Each row has a `weight`.

    `same` is 1 for a true candidate, else 0. The intercept expresses how rare duplicates are. The penalty hardly
    affects the intercept. Raises ValueError if all rows are true candidates, or if no row is.
    """
    if same.min() == same.max():
        raise ValueError(f"{'all' if same.all() else 'no'} candidates looked at are duplicates")
    mean = np.average(rows, axis=0, weights=weight)
    scale = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weight)) + 1e-9
    # The last column, of ones, is the intercept's. Its tiny penalty only keeps the equations solvable.
    inputs = np.hstack([np.clip((rows - mean) / scale, -_FAR, _FAR), np.ones((len(rows), 1))])
    priors = np.array([prior.get(name, 0.0) for name in names] + [0.0]) * np.append(scale, 1.0)
    penalty = np.array([l2] * len(names) + [1e-9])
    rate = float(np.average(same, weights=weight))
    start = priors.copy()
    start[-1] = np.log(rate / (1 - rate))

    def loss(beta: Floats) -> float:
        log_odds = inputs @ beta
        log_loss = (weight * (np.logaddexp(0, log_odds) - same * log_odds)).sum()
        return float(log_loss + (penalty * (beta - priors) ** 2).sum() / 2)

    def step(beta: Floats) -> Floats:
        chance = 1 / (1 + np.exp(-np.clip(inputs @ beta, -30, 30)))
        slope = inputs.T @ (weight * (chance - same)) + penalty * (beta - priors)
        curvature = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs + np.diag(penalty)
        return np.asarray(np.linalg.solve(curvature, slope))

    beta = _descend(start, step, loss)
    weights = beta[:-1] / scale
    return _fitted(names, weights, float(beta[-1] - weights @ mean))


def fit_factor(column: Floats, log_odds: Floats, same: Floats, weight: Floats, l2: float) -> float:
    """Fit f by logistic regression with an L2 penalty. The log-odds that `same` is 1 are `log_odds` + f * `column`."""

    def loss(beta: Floats) -> float:
        total = log_odds + beta[0] * column
        return float((weight * (np.logaddexp(0, total) - same * total)).sum() + l2 / 2 * beta[0] ** 2)

    def step(beta: Floats) -> Floats:
        chance = 1 / (1 + np.exp(-np.clip(log_odds + beta[0] * column, -30, 30)))
        slope = (weight * (chance - same) * column).sum() + l2 * beta[0]
        return np.array([slope / ((weight * chance * (1 - chance) * column**2).sum() + l2)])

    return round(float(_descend(np.zeros(1), step, loss)[0]), 5)


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _descend(start: Floats, step: Callable[[Floats], Floats], loss: Callable[[Floats], float]) -> Floats:
    """Newton's method. A step is halved until the loss is a number and does not rise."""
    beta, best = start, loss(start)
    for _ in range(_MOST_STEPS):
        direction, fraction = step(beta), 1.0
        # `not … <=` is also true for a loss that is not a number.
        while not (current := loss(beta - fraction * direction)) <= best and fraction > _LEAST_FRACTION:
            fraction /= 2
        if not current <= best:
            break
        beta, gain, best = beta - fraction * direction, best - current, current
        if gain < 1e-6 * max(1.0, best):
            break
    return beta


def _fitted(names: Sequence[str], weights: NDArray[np.float64], intercept: float) -> Fitted:
    rounded = {name: round(float(value), 5) for name, value in zip(names, weights, strict=True)}
    return Fitted(rounded, round(intercept, 5))
