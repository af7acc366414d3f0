"""The judge in an evaluation (J7): writes its questions as rows, reads its answers, and measures their effect. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.domain.errors import UserError
from bot.domain.judge_protocol import JudgedPair, JudgeVerdict
from bot.quality.evaluation.measures import Id, JudgedArrival, ThresholdOutcome, outcome_at
from bot.quality.replay.replay import ReplayAnswer
from bot.search.judge.judge import probability
from bot.search.judge.prompt import (
    SCHEMA,
    Prompt,
    UnusableAnswer,
    check_answer,
    estimated_tokens,
    question,
    question_key,
)

Found = tuple[tuple[Id, float], ...]
Answers = Mapping[str, Mapping[int, JudgedPair]]
"""The judge's answer about each candidate, by the key of the question."""

TOKENS_OUT = 40
"""The estimated number of tokens in an answer's entry."""


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One arrival's question; `ids` maps the candidates' numbers in the replay to ids in the file."""

    id: Id
    key: str
    question: Prompt
    ids: Mapping[int, Id]

    @property
    def tokens(self) -> tuple[int, int]:
        """The estimated numbers of input and output tokens."""
        asked = len(self.question.numbers) + bool(self.question.copy) + bool(self.question.other)
        return estimated_tokens(self.question.system) + estimated_tokens(self.question.user), TOKENS_OUT * asked

    def row(self) -> dict[str, Any]:
        """The question as a row, word for word as an endpoint receives it."""
        asked = self.question
        return {
            "question": self.key,
            "id": self.id,
            "prompt": asked.prompt,
            "messages": [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}],
            "schema": SCHEMA,
            "candidates": {str(number): self.ids[own] for number, own in asked.numbers.items()},
        }


def questions(answered: Iterable[ReplayAnswer]) -> list[JudgeQuestion]:
    """The questions to a judge about these arrivals."""
    return [
        JudgeQuestion(
            one.id,
            question_key(one.pairs),
            question(one.pairs),
            {text.number: id for text, id in zip(one.pairs.candidates, one.ids, strict=True)},
        )
        for one in answered
        if one.pairs is not None
    ]


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """The answers (`said`) by the question's key.

    `unusable` counts unusable answers (J3), and `strange` counts answers to unknown questions.
    """

    said: dict[str, Mapping[int, JudgedPair]] = field(default_factory=dict)
    unusable: int = 0
    strange: int = 0


def read_answers(rows: Iterable[tuple[Any, str]], asked: Sequence[JudgeQuestion]) -> RecordedAnswers:
    """Answers from rows with their places. The last answer to a question counts.

    Raises UserError naming the place of a row that is not an answer.
    """
    by_key = {one.key: one for one in asked}
    answers: dict[str, Mapping[int, JudgedPair]] = {}
    unusable, strange = set[str](), 0
    for row, place in rows:
        if not isinstance(row, Mapping) or not isinstance(row.get("question"), str) or "answer" not in row:
            shape = '{"question": …, "answer": {"candidates": […]}}'
            raise UserError(f"{place}: a judge's answer has the form {shape}; docs/guides/judge.md has an example")
        key = row["question"]
        if key not in by_key:
            strange += 1
            continue
        try:
            answers[key] = check_answer(row["answer"], by_key[key].question)
            unusable.discard(key)
        except UnusableAnswer:
            answers.pop(key, None)
            unusable.add(key)
    return RecordedAnswers(answers, len(unusable), strange)


def with_verdicts(
    found: Found, asked: JudgeQuestion, answers: Mapping[int, JudgedPair]
) -> tuple[tuple[Id, float, JudgeVerdict | None], ...]:
    """The candidates with their probabilities after the verdicts, best first."""
    verdicts = {asked.ids[number]: answer.verdict for number, answer in answers.items()}
    judged = [
        (id, probability(before, verdict) if (verdict := verdicts.get(id)) else before, verdict) for id, before in found
    ]
    return tuple(sorted(judged, key=lambda row: -row[1]))


def named_in_comment(
    judged: Iterable[tuple[Id, float, JudgeVerdict | None]], threshold: float, *, related: bool = False
) -> Found:
    """The candidates that a comment may name.

    Leaves out candidates that the judge calls related (unless `related` is set), and likely candidates that the judge
    did not see.
    """
    return tuple(
        (id, confidence)
        for id, confidence, verdict in judged
        if (verdict is not None or confidence < threshold) and (related or verdict is not JudgeVerdict.RELATED)
    )


def outcome_with_as_many_comments(judged: Sequence[JudgedArrival], comments: float) -> ThresholdOutcome:
    """The outcome without the judge, at the threshold that leads to about the same number of comments."""
    tops = sorted({round(one.top, 6) for one in judged if one.found}, reverse=True)
    low, high = 0, len(tops)
    while low < high:
        middle = (low + high) // 2
        if sum(one.weight for one in judged if one.found and round(one.top, 6) >= tops[middle]) < comments:
            low = middle + 1
        else:
            high = middle
    return outcome_at(judged, tops[min(low, len(tops) - 1)] if tops else 1.0)
