"""The judge (J2, J3, J6): asks a model about new pairs only, within budgets and time; a failure gives no answer."""

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
from bot.domain.judge_protocol import JudgeAnswer, JudgedPair, JudgeLimits, JudgeQuestion, JudgeVerdict
from bot.platform.metrics import JUDGE_CALLS, JUDGE_COST, JUDGE_SECONDS, JUDGE_TOKENS
from bot.platform.tracing import span
from bot.search.judge.prompt import (
    CRITIC,
    PROMPT,
    Completion,
    Endpoint,
    EndpointError,
    Price,
    Prompt,
    UnusableAnswer,
    build_critic_prompt,
    estimated_tokens,
    pair_key,
    question,
    read_answer,
)

log = logging.getLogger(__name__)

#: Seconds of backoff after a failure, at first and at most; each failure in a row doubles them.
PAUSE, LONGEST = 30.0, 600.0
#: Tokens that are reserved for an answer, and the highest count that is believed.
_EXPECTED, _MOST_TOKENS = 250, 1_000_000
#: With fewer seconds left a question is not asked.
_LEAST_SECONDS = 0.5


class JudgeRecord(Protocol):
    """Stores verdicts and calls: `bot.storage.decisions.Judgements`."""

    def kept(self, repo_id: int, keys: Collection[str]) -> Mapping[str, JudgedPair]:
        """The known verdicts, by the key of the pair."""

    def keep(self, repo_id: int, number: int, said: Mapping[str, tuple[int, JudgedPair]], by: str, now: float) -> None:
        """Keep verdicts about issue `number`, each by the key of the pair with the other issue's number."""

    def begin(self, repo_id: int, number: int, author: str, tokens: int, limits: JudgeLimits, now: float) -> int | None:
        """Count a call in advance, and return its id; None if a limit forbids it."""

    def end(self, call: int, tokens_in: int, tokens_out: int, cost: float, seconds: float) -> None:
        """Correct the count of a call by what it really took."""


class InMemoryRecord:
    """Keeps verdicts for one search, where the host stores none. `counted` counts the calls, if there is a store."""

    def __init__(self, counted: JudgeRecord | None) -> None:
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
class Backoff:
    """When the endpoint may be asked again after failures; one for each process."""

    until: float = 0.0
    failures: int = 0

    def failed(self, now: float, after: float | None) -> None:
        """Note a failure; `after` is the endpoint's own figure in seconds, if it gave one."""
        self.failures += 1
        self.until = now + (min(LONGEST, PAUSE * 2 ** min(self.failures - 1, 10)) if after is None else after)

    def worked(self) -> None:
        self.until, self.failures = 0.0, 0


@dataclass(frozen=True, slots=True)
class HostJudge:
    """The host's judge. An issue waits `seconds` for it; `now` is the store's time, in seconds since 1970.

    With `private_too` it may read private repositories that agree to it.
    """

    endpoint: Endpoint
    record: JudgeRecord
    limits: JudgeLimits
    price: Price
    seconds: float
    now: Callable[[], float]
    private_too: bool = False
    monotonic: Callable[[], float] = time.monotonic
    rest: Backoff = field(default_factory=Backoff)

    def of(self, repo_id: int, config: JudgeConfig, *, private: bool) -> RepositoryJudge | None:
        """The judge for a repository; None if it wants none, or its texts must not leave the host (C6a)."""
        consented = not private or (self.private_too and config.private)
        return RepositoryJudge(self, repo_id, config) if config.enabled and consented else None


@dataclass(frozen=True, slots=True)
class RepositoryJudge:
    """A `bot.search.finder.scoring.Judge`."""

    judge: HostJudge
    repo_id: int
    config: JudgeConfig

    @property
    def floor(self) -> float:
        return self.config.floor

    @property
    def by(self) -> str:
        """The model and the prompts, by which verdicts are kept."""
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
        """Ask about candidates without a known verdict."""
        until = self.judge.monotonic() + self.judge.seconds
        target, secret = pairs.target, secrets.token_bytes(32)
        said, problem = self._once(target.number, question(pairs, secret), author, until)
        if self.config.critic:
            for one in pairs.candidates:
                if one.number in said and said[one.number].verdict is JudgeVerdict.SAME:
                    again, missing = self._once(target.number, build_critic_prompt(target, one, secret), author, until)
                    problem = problem or missing
                    # It counts only if both questions say so.
                    del said[one.number]
                    said |= again
        return said, problem

    def _once(
        self, number: int, asked: Prompt, author: str, until: float
    ) -> tuple[dict[int, JudgedPair], Remark | None]:
        judge, began = self.judge, self.judge.monotonic()
        if began < judge.rest.until:
            JUDGE_CALLS.labels("paused").inc()
            return {}, RemarkCode.JUDGE_PAUSED.of()
        if until - began < _LEAST_SECONDS < judge.seconds:
            # The first question took the time of the second, which is no fault of the endpoint's.
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
                raise UnusableAnswer("it was cut off")
            said = read_answer(written.text, asked)
            result = "answered"
        except UnusableAnswer as useless:
            result, problem = "unusable", RemarkCode.JUDGE_UNUSABLE.of()
            log.warning("the judge's answer is none: %s", useless)
        except EndpointError as failure:
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
        """The verdicts, without the model's words if the repository does not want them."""
        return dict(said) if self.config.cause else {at: replace(one, shared_cause="") for at, one in said.items()}


def _used(written: Completion, into: int) -> tuple[int, int]:
    """The tokens that the endpoint counted, or estimates if it counted none."""
    counted = (written.tokens_in, written.tokens_out)
    tokens_in, tokens_out = (count if 0 < count <= _MOST_TOKENS else 0 for count in counted)
    return tokens_in or into, tokens_out or estimated_tokens(written.text)


Table = Mapping[str, Sequence[float]]
"""`from` holds lower bounds, the first 0, and each verdict's row a probability for each of them."""


def probability(before: float, verdict: JudgeVerdict, table: Table | None = None) -> float:
    """The probability of a pair that had the probability `before`, given the judge's verdict (J5)."""
    known = table or shipped_table()
    return known[verdict.value][bisect(known["from"], before) - 1]


@cache
def shipped_table() -> Table:
    """The table that comes with this version."""
    text = resources.files("bot.search.judge").joinpath("table.json").read_text(encoding="utf-8")
    table: Table = json.loads(text)["table"]
    return table
