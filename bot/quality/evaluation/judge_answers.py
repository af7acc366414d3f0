"""The judge, a language model, in an evaluation (J7): questions as rows, answers, and the answers' effect. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.domain.errors import UserError
from bot.domain.judge_protocol import JudgedPair, JudgeIssue, JudgeQuestion, JudgeVerdict
from bot.quality.evaluation.measures import Id, JudgedArrival, ThresholdOutcome, outcome_at
from bot.quality.replay.replay import ReplayAnswer
from bot.search.judge.judge import probability
from bot.search.judge.prompt import (
    CRITIC,
    SCHEMA,
    Price,
    Prompt,
    UnusableAnswer,
    build_critic_prompt,
    build_judge_prompt,
    check_answer,
    estimated_tokens,
    question_key,
    read_answer,
)

Found = tuple[tuple[Id, float], ...]
"""An arrival's candidates with their probabilities, best first."""
Answers = Mapping[str, Mapping[int, JudgedPair]]
"""Maps a question's key to its answer, which maps each candidate's number in the replay to a verdict."""

TOKENS_OUT = 40
"""The estimated number of tokens in an answer's entry about one issue."""


@dataclass(frozen=True, slots=True)
class RecordedQuestion:
    """A question about arrival `id` to the judge, or to the critic, who rereads a pair that the judge calls `SAME`.

    In `question`, issues have their numbers in the replay; `ids` maps the candidates' numbers to ids in the data set.
    """

    id: Id
    key: str
    prompt: Prompt
    question: JudgeQuestion
    ids: Mapping[int, Id]

    @property
    def tokens(self) -> tuple[int, int]:
        """The estimated numbers of input and output tokens."""
        # The judge also answers about two controls, `copy` and `other` (see `Prompt`). Both are 0 for the critic.
        entries = len(self.prompt.numbers) + bool(self.prompt.copy) + bool(self.prompt.other)
        return estimated_tokens(self.prompt.system) + estimated_tokens(self.prompt.user), TOKENS_OUT * entries

    def row(self) -> dict[str, Any]:
        """The question as a row, word for word as an endpoint receives it."""
        sent = self.prompt
        return {
            "question": self.key,
            "id": self.id,
            "prompt": sent.name,
            "messages": [{"role": "system", "content": sent.system}, {"role": "user", "content": sent.user}],
            "schema": SCHEMA,
            "candidates": {str(in_prompt): self.ids[in_replay] for in_prompt, in_replay in sent.numbers.items()},
        }


def questions(answered: Iterable[ReplayAnswer]) -> list[RecordedQuestion]:
    return [
        RecordedQuestion(
            one.id,
            question_key(one.judge_question),
            build_judge_prompt(one.judge_question),
            one.judge_question,
            {issue.number: id for issue, id in zip(one.judge_question.candidates, one.ids, strict=True)},
        )
        for one in answered
        if one.judge_question is not None
    ]


def critic_question(recorded: RecordedQuestion, candidate: JudgeIssue) -> RecordedQuestion:
    """The question to the critic about one candidate of a question to the judge."""
    alone = replace(recorded.question, candidates=(candidate,))
    prompt = build_critic_prompt(alone.target, candidate)
    return RecordedQuestion(recorded.id, question_key(alone, CRITIC), prompt, alone, recorded.ids)


def _called_same(recorded: RecordedQuestion, said: Answers) -> list[JudgeIssue]:
    same = {number for number, pair in said.get(recorded.key, {}).items() if pair.verdict is JudgeVerdict.SAME}
    return [one for one in recorded.question.candidates if one.number in same]


def verdicts(recorded: RecordedQuestion, said: Answers, *, critic: bool) -> dict[int, JudgedPair]:
    """The candidates' verdicts. With a `critic`, drops each `SAME`, then adds the critic's verdict if there is one."""
    judged = dict(said.get(recorded.key, {}))
    reread = _called_same(recorded, said) if critic else []
    for candidate in reread:
        del judged[candidate.number]
        # The answer has one pair. Its number may be another candidate's: candidates with equal texts share a key.
        for pair in said.get(critic_question(recorded, candidate).key, {}).values():
            judged[candidate.number] = pair
    return judged


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """The questions to the judge and the critic (`asked`), and the answers (`said`) by the question's key.

    `unusable` has the keys of questions with unusable answers (J3). `strange` counts answers to unknown questions.
    `seconds` says how long each answer took, where that is known.
    """

    asked: Sequence[RecordedQuestion]
    said: Answers
    unusable: frozenset[str]
    strange: int
    seconds: Sequence[float]

    @property
    def unanswered(self) -> list[RecordedQuestion]:
        """The questions without a usable answer."""
        return [one for one in self.asked if one.key not in self.said]

    @property
    def unasked(self) -> list[RecordedQuestion]:
        """The questions without any answer, not even an unusable one."""
        return [one for one in self.unanswered if one.key not in self.unusable]


def read_answers(
    rows: Sequence[tuple[Any, str]], asked: Sequence[RecordedQuestion], *, critic: bool = False
) -> RecordedAnswers:
    """Read answers from `rows`, each with its location. The last answer to a question counts.

    With a `critic`, the result also has a question to the critic about each `SAME` of the judge. If a row is not an
    answer, raises UserError naming the location.
    """
    by_key = {one.key: one for one in asked}
    if critic:
        judge_said = read_answers(rows, asked).said
        to_critic = [critic_question(one, candidate) for one in asked for candidate in _called_same(one, judge_said)]
        by_key |= {one.key: one for one in to_critic}
    answers: dict[str, Mapping[int, JudgedPair]] = {}
    unusable, strange, seconds = set[str](), 0, list[float]()
    for row, location in rows:
        if not isinstance(row, Mapping) or not isinstance(row.get("question"), str) or "answer" not in row:
            shape = '{"question": …, "answer": {"candidates": […]}}'
            raise UserError(f"{location}: a judge's answer has the form {shape}; docs/guides/judge.md has an example")
        key = row["question"]
        if key not in by_key:
            strange += 1
            continue
        if isinstance(row.get("seconds"), float):
            seconds.append(row["seconds"])
        answer, prompt = row["answer"], by_key[key].prompt
        try:
            answers[key] = read_answer(answer, prompt) if isinstance(answer, str) else check_answer(answer, prompt)
            unusable.discard(key)
        except UnusableAnswer:
            answers.pop(key, None)
            unusable.add(key)
    return RecordedAnswers(list(by_key.values()), answers, frozenset(unusable), strange, seconds)


def after_verdicts(
    found: Found, recorded: RecordedQuestion, judged: Mapping[int, JudgedPair], threshold: float, *, related: bool
) -> Found:
    """The candidates and their probabilities after the verdicts, best first.

    Drops `RELATED` candidates unless `related` is set, and candidates that reach `threshold` but have no verdict.
    """
    by_id = {recorded.ids[number]: pair.verdict for number, pair in judged.items()}
    kept = []
    for id, confidence in found:
        verdict = by_id.get(id)
        if verdict is None:
            if confidence < threshold:
                kept.append((id, confidence))
        elif related or verdict is not JudgeVerdict.RELATED:
            kept.append((id, probability(confidence, verdict)))
    return tuple(sorted(kept, key=lambda row: -row[1]))


def candidates_after(
    asked: Iterable[RecordedQuestion],
    said: Answers,
    found: Mapping[Id, Found],
    threshold: float,
    *,
    critic: bool,
    related: bool,
) -> tuple[dict[Id, Found], dict[str, int]]:
    """Each arrival's candidates as `after_verdicts` gives them, and how many pairs got each verdict."""
    after, counts = dict(found), dict.fromkeys((verdict.value for verdict in JudgeVerdict), 0)
    for one in asked:
        judged = verdicts(one, said, critic=critic)
        if judged:
            after[one.id] = after_verdicts(found[one.id], one, judged, threshold, related=related)
        for pair in judged.values():
            counts[pair.verdict.value] += 1
    return after, counts


def compared_outcomes(
    with_judge: Sequence[JudgedArrival], without_judge: Sequence[JudgedArrival], threshold: float
) -> dict[str, ThresholdOutcome]:
    """Outcomes with the judge, without the judge, and without the judge at about as many comments as with the judge."""
    after, before = outcome_at(with_judge, threshold), outcome_at(without_judge, threshold)
    as_many = outcome_with_as_many_comments(without_judge, after.comments)
    return {"with": after, "without": before, "without_at_as_many": as_many}


def estimated_cost(asked: Sequence[RecordedQuestion], arrivals: int, price: Price, *, critic: bool) -> dict[str, Any]:
    """The questions' estimated tokens and cost, also in words (`says`). `arrivals` includes those not asked about."""
    total = _tokens_and_cost(asked, price)
    median = statistics.median([one.tokens[0] for one in asked] or [0])
    says = (
        f"The judge: {len(asked):,} questions about {arrivals:,} arrivals ({len(asked) / arrivals:.0%}), about "
        f"{total['tokens_in']:,} tokens in (median {median:,.0f}) and {total['tokens_out']:,} out. "
    )
    costs = f"That costs about {total['cost']:.2f}." if total["cost"] else ""
    says += costs or "DOPPEL_JUDGE_PRICE_IN and _OUT would say what that costs."
    estimate = {"questions": len(asked), "arrivals": arrivals, "tokens_in_median": median, **total}
    if not critic:
        return estimate | {"says": says}
    # An upper limit: the critic will reread only the pairs that the judge calls the same.
    most = [critic_question(one, candidate) for one in asked for candidate in one.question.candidates]
    more = _tokens_and_cost(most, price)
    says += f" The critic: at most {len(most):,} questions, about {more['tokens_in']:,} tokens in and "
    says += f"{more['tokens_out']:,} out" + (f", for {more['cost']:.2f}." if more["cost"] else ".")
    return estimate | {"critic": {"questions_at_most": len(most), **more}, "says": says}


def _tokens_and_cost(asked: Sequence[RecordedQuestion], price: Price) -> dict[str, Any]:
    tokens_in, tokens_out = sum(one.tokens[0] for one in asked), sum(one.tokens[1] for one in asked)
    return {"tokens_in": tokens_in, "tokens_out": tokens_out, "cost": price.of(tokens_in, tokens_out)}


def outcome_with_as_many_comments(without_judge: Sequence[JudgedArrival], comments: float) -> ThresholdOutcome:
    """The outcome without the judge, at the threshold that leads to about this (weighted) number of `comments`."""
    commented, threshold = 0.0, 1.0
    for one in sorted((one for one in without_judge if one.found), key=lambda one: -one.top):
        if commented < comments:
            commented += one.weight
            threshold = one.top
    return outcome_at(without_judge, threshold)
