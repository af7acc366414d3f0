"""The judge at work (J2, J3, J6): what was answered before is not asked again, budgets are kept, and whatever goes
wrong is told as no answer, in the time that is given.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from bisect import bisect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Protocol

from bot.conversation.config.schema import JudgeConfig
from bot.domain.errors import Remark, RemarkCode
from bot.domain.judge_protocol import JudgeAnswer, JudgedPair, JudgeIssue, JudgeLimits, JudgeQuestion, JudgeVerdict
from bot.platform.metrics import JUDGE_CALLS, JUDGE_COST, JUDGE_SECONDS, JUDGE_TOKENS
from bot.platform.tracing import span
from bot.search.judge.endpoint import Endpoint, Price, Unreached, Written
from bot.search.judge.question import (
    CRITIC,
    PROMPT,
    NoAnswer,
    Question,
    critical,
    estimated_tokens,
    pair_key,
    question,
    read_answer,
)

log = logging.getLogger(__name__)

#: Seconds for which an endpoint that failed is left alone, at first and at most; each failure in a row doubles them.
PAUSE, LONGEST = 30.0, 600.0
#: Tokens that an answer is counted with while it is not there, and the most that is believed of any.
_EXPECTED, _MOST_TOKENS = 250, 1_000_000
#: Seconds that a question has at least; with less it is not asked.
_LEAST_SECONDS = 0.5


class Record(Protocol):
    """What is remembered of the judge; `bot.storage.judging.Judgements`."""

    def kept(self, repo_id: int, keys: Collection[str]) -> Mapping[str, JudgedPair]:
        """The answers that are known, by the key of the pair."""
        ...

    def keep(self, repo_id: int, number: int, said: Mapping[str, tuple[int, JudgedPair]], by: str, now: float) -> None:
        """Keep answers about issue `number`, each by the key of the pair with the number of the other."""
        ...

    def begin(self, repo_id: int, number: int, author: str, tokens: int, limits: JudgeLimits, now: float) -> int | None:
        """Count a call in advance; None where a limit stands against it."""
        ...

    def end(self, call: int, tokens_in: int, tokens_out: int, cost: float, seconds: float) -> None:
        """What the call came to."""
        ...


class InMemory:
    """A record of one look, for repositories of which the host keeps no answers.

    Calls count in `counted`, whose limits hold; on a host without a store nothing is counted.
    """

    def __init__(self, counted: Record | None) -> None:
        self._counted = counted
        self._said: dict[str, JudgedPair] = {}

    def kept(self, repo_id: int, keys: Collection[str]) -> Mapping[str, JudgedPair]:
        return {key: self._said[key] for key in keys if key in self._said}

    def keep(self, repo_id: int, number: int, said: Mapping[str, tuple[int, JudgedPair]], by: str, now: float) -> None:
        self._said |= {key: one for key, (_, one) in said.items()}

    def begin(self, repo_id: int, number: int, author: str, tokens: int, limits: JudgeLimits, now: float) -> int | None:
        return self._counted.begin(repo_id, number, author, tokens, limits, now) if self._counted else 0

    def end(self, call: int, tokens_in: int, tokens_out: int, cost: float, seconds: float) -> None:
        if self._counted:
            self._counted.end(call, tokens_in, tokens_out, cost, seconds)


@dataclass(slots=True)
class Rest:
    """How long the endpoint is left alone; one for a process, whoever asks."""

    until: float = 0.0
    failures: int = 0

    def failed(self, now: float, after: float | None) -> None:
        """It failed, and perhaps said when it can be asked again."""
        self.failures += 1
        self.until = now + (min(LONGEST, PAUSE * 2 ** min(self.failures - 1, 10)) if after is None else after)

    def worked(self) -> None:
        """It answered."""
        self.until, self.failures = 0.0, 0


@dataclass(frozen=True, slots=True)
class Judge:
    """The host's judge. `seconds` is how long an issue waits for it; `now` the store's time, seconds since 1970.

    With `private_too` the host lets it read what is private, where the repository does as well.
    """

    endpoint: Endpoint
    record: Record
    limits: JudgeLimits
    price: Price
    seconds: float
    now: Callable[[], float]
    private_too: bool = False
    monotonic: Callable[[], float] = time.monotonic
    rest: Rest = field(default_factory=Rest)

    def of(self, repo_id: int, config: JudgeConfig, *, private: bool) -> InRepository | None:
        """The judge as a repository wants it; None where it wants none, or its texts may not go there (C6a)."""
        consented = not private or (self.private_too and config.private)
        return InRepository(self, repo_id, config) if config.enabled and consented else None


@dataclass(frozen=True, slots=True)
class InRepository:
    """As `bot.search.finder.judging.Judge` says."""

    judge: Judge
    repo_id: int
    config: JudgeConfig

    @property
    def floor(self) -> float:
        return self.config.floor

    @property
    def by(self) -> str:
        """The model and the prompts that an answer is of."""
        return " ".join([self.judge.endpoint.model, PROMPT, *([CRITIC] if self.config.critic else [])])

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        return probability(before, opinion.said[number].verdict)

    def opinion(self, pairs: JudgeQuestion, author: str) -> JudgeAnswer:
        judge, keys = self.judge, {pair_key(pairs.target, one, self.by): one for one in pairs.candidates}
        kept = judge.record.kept(self.repo_id, keys)
        known = {keys[key].number: said for key, said in kept.items()}
        new = tuple(one for key, one in keys.items() if key not in kept)
        said, problem = dict[int, JudgedPair](), None
        if new:
            with span("judge") as traced:
                said, problem = self._asked(replace(pairs, candidates=new), author)
                traced.set_attribute("problem", str(problem or ""))
            fresh = {key: (one.number, said[one.number]) for key, one in keys.items() if one.number in said}
            judge.record.keep(self.repo_id, pairs.target.number, fresh, self.by, judge.now())
        else:
            JUDGE_CALLS.labels("kept").inc()
        return JudgeAnswer(self._shown(known | said), self.by, problem)

    def _asked(self, pairs: JudgeQuestion, author: str) -> tuple[dict[int, JudgedPair], Remark | None]:
        """What is said of candidates of which nothing is known."""
        until = self.judge.monotonic() + self.judge.seconds
        target, secret = pairs.target, secrets.token_bytes(32)
        said, problem = self._once(target.number, question(pairs, secret), author, until)
        if self.config.critic:
            for one in pairs.candidates:
                if one.number in said and said[one.number].verdict is JudgeVerdict.SAME:
                    again, missing = self._once(target.number, critical(target, one, secret), author, until)
                    problem = problem or missing
                    # Nobody has said it twice.
                    del said[one.number]
                    said |= again
        return said, problem

    def _once(
        self, number: int, asked: Question, author: str, until: float
    ) -> tuple[dict[int, JudgedPair], Remark | None]:
        judge, began = self.judge, self.judge.monotonic()
        if began < judge.rest.until:
            JUDGE_CALLS.labels("paused").inc()
            return {}, RemarkCode.JUDGE_PAUSED.of()
        if until - began < _LEAST_SECONDS < judge.seconds:
            # The first answer has taken the time of a second one, which is no fault of the endpoint's.
            JUDGE_CALLS.labels("unreached").inc()
            return {}, RemarkCode.JUDGE_UNREACHED.of()
        into = estimated_tokens(asked.system) + estimated_tokens(asked.user)
        call = judge.record.begin(self.repo_id, number, author, into + _EXPECTED, judge.limits, judge.now())
        if call is None:
            JUDGE_CALLS.labels("budget").inc()
            return {}, RemarkCode.JUDGE_BUDGET.of()
        used, problem = (into, 0), None
        said: dict[int, JudgedPair] = {}
        try:
            written = judge.endpoint.ask(asked, max(until - began, 0.1))
            judge.rest.worked()
            used = _used(written, into)
            if written.cut:
                raise NoAnswer("it was cut off")
            said = read_answer(written.text, asked)
            result = "answered"
        except NoAnswer as useless:
            result, problem = "unusable", RemarkCode.JUDGE_UNUSABLE.of()
            log.warning("the judge's answer is none: %s", useless)
        except Unreached as failure:
            result, problem = "unreached", RemarkCode.JUDGE_UNREACHED.of()
            judge.rest.failed(judge.monotonic(), failure.after)
            log.warning("the judge: %s", failure)
        took, cost = judge.monotonic() - began, judge.price.of(*used)
        judge.record.end(call, *used, cost, took)
        JUDGE_CALLS.labels(result).inc()
        JUDGE_SECONDS.observe(took)
        JUDGE_TOKENS.labels("in").inc(used[0])
        JUDGE_TOKENS.labels("out").inc(used[1])
        JUDGE_COST.inc(cost)
        return said, problem

    def _shown(self, said: Mapping[int, JudgedPair]) -> dict[int, JudgedPair]:
        """A repository can do without the model's words."""
        return dict(said) if self.config.cause else {at: replace(one, shared_cause="") for at, one in said.items()}


def _used(written: Written, into: int) -> tuple[int, int]:
    """The tokens that the endpoint counted; some do not count, and none may be believed to have used none."""
    counted = (written.tokens_in, written.tokens_out)
    tokens_in, tokens_out = (count if 0 < count <= _MOST_TOKENS else 0 for count in counted)
    return tokens_in or into, tokens_out or estimated_tokens(written.text)


def trial(texts: Sequence[JudgeIssue]) -> Question:
    """A question to try an endpoint with; the first text is the new issue."""
    return question(JudgeQuestion(texts[0], tuple(texts[1:])), secrets.token_bytes(32))


Table = Mapping[str, Sequence[float]]
"""`from` has the bounds, beginning with 0, and each verdict a probability for each of them."""


def probability(before: float, verdict: JudgeVerdict, table: Table | None = None) -> float:
    """How likely two texts are the same that the judge calls so, and that had a probability `before`."""
    known = table or shipped()
    return known[verdict.value][bisect(known["from"], before) - 1]


@cache
def shipped() -> Table:
    """The table that Doppel comes with."""
    table: Table = json.loads(resources.files("bot.search.judge").joinpath("table.json").read_text(encoding="utf-8"))[
        "table"
    ]
    return table
