"""The judge (J2, J3, J6) asks a model only about new pairs, within budgets and a deadline. Failures give no verdict."""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

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
    build_judge_prompt,
    estimated_tokens,
    question_key,
    read_answer,
    sample_question,
)
from bot.storage.decisions import Judgements

log = logging.getLogger(__name__)

#: Seconds before the first probe of a failed endpoint (PAUSE). Each probe doubles the pause, up to LONGEST.
PAUSE, LONGEST = 30.0, 600.0
#: Tokens to reserve for an answer. An endpoint's token count above _MOST_TOKENS is ignored.
_ANSWER_TOKENS, _MOST_TOKENS = 250, 1_000_000
#: With fewer seconds left than this, the judge asks nothing more about an issue.
_LEAST_SECONDS = 0.5


class Breaker:
    """Keeps issues from waiting for an endpoint that failed.

    A failure opens the breaker: then no question about an issue is asked. After a pause, a thread asks a made-up
    question, again and again, until the endpoint answers in time; that closes the breaker.
    """

    def __init__(self, endpoint: Endpoint, seconds: float, pause: float = PAUSE) -> None:
        self.is_open = False
        self._endpoint, self._seconds, self._shortest = endpoint, seconds, pause
        self._pause = pause
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Return to the shortest pause, because a question about an issue was answered in time."""
        self._pause = self._shortest

    def trip(self, after: float | None) -> None:
        """Open the breaker. `after` is the pause in seconds that the endpoint asked for, if any."""
        with self._lock:
            if self.is_open:
                return
            self.is_open = True
        threading.Thread(target=self._probe, args=(after,), name="judge-probe", daemon=True).start()

    def _probe(self, after: float | None) -> None:
        try:
            while self.is_open:
                time.sleep(max(self._pause, after or 0.0))
                # A probe does not reset the pause, because a slow model may answer only short probes in time.
                self._pause = min(2 * self._pause, LONGEST)
                try:
                    # Even an unusable answer shows that the endpoint answers.
                    with suppress(UnusableAnswer):
                        self._endpoint.ask(sample_question(), self._seconds)
                except EndpointError as failure:
                    after = failure.after
                else:
                    return
        finally:
            # Close the breaker even if the probe has a bug.
            self.is_open = False
            log.info("the judge is asked again")


@dataclass(frozen=True, slots=True)
class HostJudge:
    """The host's judge. A search waits `seconds` for an answer. `now` returns the store's time (seconds since 1970).

    `calls` counts the calls, and `verdicts` stores the answers. In a process without a store, both
    are None, and `answered` keeps the answers in memory.

    With `private_too`, the judge may read private repositories whose settings allow this. Without a `breaker`, every
    issue waits for an endpoint that failed.
    """

    endpoint: Endpoint
    calls: Judgements | None
    verdicts: Judgements | None
    limits: JudgeLimits
    price: Price
    seconds: float
    now: Callable[[], float]
    private_too: bool = False
    breaker: Breaker | None = None
    answered: dict[str, JudgedPair] = field(default_factory=dict)

    def of(self, repo_id: int, config: JudgeConfig, *, private: bool) -> RepositoryJudge | None:
        """The judge for a repository; None if the repository has none, or its texts must not leave the host (C6a)."""
        consented = not private or (self.private_too and config.private)
        return RepositoryJudge(self, repo_id, config) if config.enabled and consented else None


@dataclass(frozen=True, slots=True)
class RepositoryJudge:
    """The host's judge for one repository. The protocol `bot.search.finder.scoring.Judge` explains its methods."""

    judge: HostJudge
    repo_id: int
    config: JudgeConfig

    @property
    def floor(self) -> float:
        return self.config.floor

    @property
    def by(self) -> str:
        """The names of the model and the prompts. Verdicts are stored under this name."""
        return " ".join([self.judge.endpoint.model, PROMPT, *([CRITIC] if self.config.critic else [])])

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        return probability(before, opinion.said[number].verdict)

    def opinion(self, question: JudgeQuestion, author: str) -> JudgeAnswer:
        judge = self.judge
        by_key = {question_key(replace(question, candidates=(one,)), self.by): one for one in question.candidates}
        answers = judge.verdicts.get(self.repo_id, by_key) if judge.verdicts else judge.answered
        found = {key: answers[key] for key in by_key if key in answers}
        known = {by_key[key].number: verdict for key, verdict in found.items()}
        new = tuple(one for key, one in by_key.items() if key not in found)
        fresh, problem = dict[int, JudgedPair](), None
        if new:
            with span("judge") as traced:
                fresh, problem = self._ask(replace(question, candidates=new), author)
                traced.set_attribute("problem", str(problem or ""))
            to_store = {key: (one.number, fresh[one.number]) for key, one in by_key.items() if one.number in fresh}
            if judge.verdicts:
                judge.verdicts.put(self.repo_id, question.target.number, to_store, self.by, judge.now())
            else:
                judge.answered.update({key: verdict for key, (_, verdict) in to_store.items()})
        else:
            JUDGE_CALLS.labels("kept").inc()
        said = known | fresh
        if not self.config.cause:
            said = {number: replace(verdict, shared_cause="") for number, verdict in said.items()}
        return JudgeAnswer(said, self.by, problem)

    def _ask(self, question: JudgeQuestion, author: str) -> tuple[dict[int, JudgedPair], Remark | None]:
        """Ask about candidates without a stored verdict. A critic, if configured, must confirm each "same"."""
        until = time.monotonic() + self.judge.seconds
        target, secret = question.target, secrets.token_bytes(32)
        verdicts, problem = self._ask_once(target.number, build_judge_prompt(question, secret), author, until)
        if self.config.critic:
            for one in question.candidates:
                if one.number in verdicts and verdicts[one.number].verdict is JudgeVerdict.SAME:
                    prompt = build_critic_prompt(target, one, secret)
                    second, failure = self._ask_once(target.number, prompt, author, until)
                    problem = problem or failure
                    # The critic's verdict replaces the first one; without the critic's answer there is no verdict.
                    del verdicts[one.number]
                    verdicts |= second
        return verdicts, problem

    def _ask_once(
        self, number: int, asked: Prompt, author: str, until: float
    ) -> tuple[dict[int, JudgedPair], Remark | None]:
        judge, began = self.judge, time.monotonic()
        if judge.breaker and judge.breaker.is_open:
            JUDGE_CALLS.labels("paused").inc()
            return {}, RemarkCode.JUDGE_PAUSED.of()
        # Earlier questions left too little time. But ask anyway if the host's limit itself is that low.
        if until - began < _LEAST_SECONDS and judge.seconds > _LEAST_SECONDS:
            # The endpoint has not failed, so the breaker stays closed.
            JUDGE_CALLS.labels("unreached").inc()
            return {}, RemarkCode.JUDGE_UNREACHED.of()
        estimate = estimated_tokens(asked.system) + estimated_tokens(asked.user)
        reserved, call = estimate + _ANSWER_TOKENS, None
        if judge.calls:
            call = judge.calls.begin(self.repo_id, number, author, reserved, judge.limits, judge.now())
            if call is None:
                JUDGE_CALLS.labels("budget").inc()
                return {}, RemarkCode.JUDGE_BUDGET.of()
        tokens_in, tokens_out, problem = estimate, 0, None
        verdicts: dict[int, JudgedPair] = {}
        try:
            completion = judge.endpoint.ask(asked, max(until - began, 0.1))
            tokens_in, tokens_out = _used_tokens(completion, estimate)
            if completion.cut:
                raise UnusableAnswer("it was cut off")
            verdicts = read_answer(completion.text, asked)
            result = "answered"
            if judge.breaker:
                judge.breaker.reset()
        except UnusableAnswer as useless:
            result, problem = "unusable", RemarkCode.JUDGE_UNUSABLE.of()
            log.warning("the judge's answer cannot be used: %s", useless)
        except EndpointError as failure:
            result, problem = "unreached", RemarkCode.JUDGE_UNREACHED.of()
            if judge.breaker:
                judge.breaker.trip(failure.after)
            log.warning("the judge: %s", failure)
        took, cost = time.monotonic() - began, judge.price.of(tokens_in, tokens_out)
        if judge.calls and call is not None:
            judge.calls.end(call, tokens_in, tokens_out, cost, took)
        JUDGE_CALLS.labels(result).inc()
        JUDGE_SECONDS.observe(took)
        JUDGE_TOKENS.labels("in").inc(tokens_in)
        JUDGE_TOKENS.labels("out").inc(tokens_out)
        JUDGE_COST.inc(cost)
        return verdicts, problem


def _used_tokens(completion: Completion, estimate: int) -> tuple[int, int]:
    """The tokens that the endpoint counted. A missing or absurd count is replaced by an estimate."""
    counts = (completion.tokens_in, completion.tokens_out)
    tokens_in, tokens_out = (count if 0 < count <= _MOST_TOKENS else 0 for count in counts)
    return tokens_in or estimate, tokens_out or estimated_tokens(completion.text)


Table = Mapping[str, Sequence[float]]
"""`from` maps to the lower bounds of intervals of the prior probability, ascending from 0. Each
verdict maps to the posterior probability for each interval."""


def probability(before: float, verdict: JudgeVerdict, table: Table | None = None) -> float:
    """The probability of a pair, given the judge's verdict (J5). `before` is the probability without the verdict."""
    rows = table or shipped_table()
    return rows[verdict.value][bisect(rows["from"], before) - 1]


@cache
def shipped_table() -> Table:
    """The table of this version of Doppel."""
    text = resources.files("bot.search.judge").joinpath("table.json").read_text(encoding="utf-8")
    table: Table = json.loads(text)["table"]
    return table
