"""J in the running bot: a model reads both texts, and an issue is answered whatever that model does."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest

from bot.app.wiring.clients import build_judge
from bot.search.judge.judge import Breaker
from bot.search.judge.prompt import SCHEMA
from bot.simulator.language_model import Heard, LanguageModel, Reply, start_model
from tests.calling import free_port
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST, OTHER
from tests.e2e.test_c7_digest import keep
from tests.judge.models import answer, entry, read, saying
from tests.waiting import LONGEST, wait_until

# Not by importing them: each process of the suite would take a second to do so.
pytestmark = pytest.mark.skipif(
    not (find_spec("openai") and find_spec("anthropic")), reason="the judge's clients are not installed"
)

CAUSE = "the export of page 7 fails"
SIBLING = ("Crash while exporting to PNG", "Exporting raises `PngRenderError: page 7`.")


@contextmanager
def judged(
    doppel: Doppel, script: Callable[[Heard], Reply | str], pause: float = LONGEST, **settings: Any
) -> Iterator[LanguageModel]:
    """The host has a judge, and waits for `pause` before it probes one that failed."""
    running = doppel.world.services
    with start_model(script) as model:
        # All tests of this file share a reporter.
        patient = {"judge_seconds": LONGEST, "judge_calls_author": 10_000}
        named = {"judge_url": model.url, "judge_model": "reader-1", "judge_key": "a-key", **patient, **settings}
        judge = build_judge(running.settings.model_copy(update=named), running.store)
        assert judge is not None
        breaker = Breaker(judge.endpoint, judge.seconds, pause)
        doppel.world.services = replace(running, judge=replace(judge, now=running.now, breaker=breaker))
        try:
            yield model
        finally:
            breaker.is_open = False
            doppel.world.services = running


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_j1_what_the_judge_calls_the_same_is_named_with_its_cause(doppel: Doppel, api: str) -> None:
    with judged(doppel, saying("same", f"{CAUSE} @alice https://evil.example/ #12"), judge_api=api) as model:
        doppel.open(*FIRST, author="ann")
        assert model.heard == [], "there was nothing to compare"
        doppel.open(*AGAIN)
    (heard,) = model.heard
    assert "a-key" in (heard.headers.get("authorization", "").removeprefix("Bearer "), heard.headers.get("x-api-key"))
    form = heard.request["response_format" if api == "openai" else "output_config"]
    assert "shared_cause" in json.dumps(form), "the form of the answer is forced"
    assert read(heard).new == "\n\n".join(AGAIN)
    advice = doppel.advice(2)
    assert "- The same cause, as a language model " in advice
    assert "read both texts: “the export of page 7 fails alice 12”\n" in advice, "no mention, no address, no reference"
    (evidence,) = doppel.services.store.decisions.of_issue(doppel.repository.id, 2)[-1].evidence
    assert (evidence.verdict, evidence.judged_by) == ("same", "reader-1 judge-3")
    assert evidence.unjudged is not None


def test_j6_the_digest_says_what_the_weeks_questions_cost(doppel: Doppel) -> None:
    doppel.configure("digest: issue\n")
    with judged(doppel, saying("same"), judge_price_in=500.0, judge_price_out=500.0):
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
        body = keep(doppel).body or ""
    assert re.search(r"The judge was asked 1 question, which cost [0-9]+\.[0-9]{2}\.", body)
    assert "cost 0.00" not in body and len(doppel.said(2)) == 1


def test_j2_of_a_long_text_the_end_and_its_error_are_asked_about_too(doppel: Doppel) -> None:
    steps = "".join(f"step {n} is done\n" for n in range(150))
    error = "fatal: the index of page 7 is out of range"
    log = f"{steps}{error}\n{steps}"
    with judged(doppel, saying("same")) as model:
        doppel.open(FIRST[0], f"{log}{FIRST[1]}", author="ann")
        doppel.open(AGAIN[0], f"{log}{AGAIN[1]}")
    new, earlier = read(model.heard[0])
    assert new.endswith(AGAIN[1]) and f"\n[…]\n{error}\n[…]\n" in new and len(new) < 1_800
    assert any(text.endswith(FIRST[1]) and error in text for text in earlier.values()) and len(doppel.said(2)) == 1


@pytest.mark.parametrize("verdict", ["different", "related"])
def test_j5_what_the_judge_calls_another_thing_is_not_named(doppel: Doppel, verdict: str) -> None:
    with judged(doppel, saying(verdict)):
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
    assert doppel.said(2) == []


def test_j5_what_is_related_is_named_where_a_repository_asks_for_it(doppel: Doppel) -> None:
    doppel.configure("judge:\n  related: on\n")
    with judged(doppel, saying("related")):
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_j2_nothing_is_asked_twice_while_the_texts_are_the_same(doppel: Doppel) -> None:
    with judged(doppel, saying("same")) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
        doppel.write(2, "/duplicates")
        assert len(model.heard) == 1
        doppel.do.edit_issue(doppel.repo, 2, body=AGAIN[1] + " On paper too.")
        assert len(model.heard) == 2
    doppel.said(2)


def test_j2_a_critic_reads_each_pair_that_is_called_the_same_alone(doppel: Doppel) -> None:
    doppel.configure("judge:\n  critic: on\n")

    def script(heard: Heard) -> str:
        if heard.system.startswith("A colleague"):
            (number,) = read(heard).earlier
            return answer(entry(number, "related"))
        return saying("same")(heard)

    with judged(doppel, script) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
    assert len(model.heard) == 2 and doppel.said(2) == []


HTML = Reply(raw=b"<html>It works!</html>")
USELESS: dict[str, str | Reply | Callable[[Heard], Reply | str]] = {
    "prose": "Both are surely the same.",
    "another number": answer(entry(1, "same")),
    "nothing said": answer(),
    "a list for a number": '{"candidates": [{"number": [1], "verdict": "same"}]}',
    "absurd counts": Reply(
        raw=b'{"choices": [{"finish_reason": "stop", "message": {"content": "Same."}}], "content": [{"type": "text", '
        b'"text": "Same."}], "usage": {"prompt_tokens": -5, "completion_tokens": 1e999, "input_tokens": 1e999, '
        b'"output_tokens": 10000000000000000000}}'
    ),
    "cut off": Reply('{"candidates": [', cut=True),
    "half a body": Reply(raw=b'{"id": "chatcmpl-1", "choices": [{"mess'),
    "HTML": HTML,
    "no choice": Reply(raw=b'{"choices": []}'),
    "all the same": lambda heard: answer(*(entry(number, "same") for number in read(heard).earlier)),
    "all different": lambda heard: answer(*(entry(number, "different") for number in read(heard).earlier)),
    "500": Reply("down", 500),
    "429 for an hour": Reply("too many", 429, {"retry-after": "3600"}),
    "401": Reply("wrong key", 401),
    "down": "Nobody hears this.",
}


@pytest.mark.parametrize("problem", USELESS)
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_j3_without_a_proper_answer_the_probability_decides_and_the_comment_says_so(
    doppel: Doppel, problem: str, api: str
) -> None:
    reply = USELESS[problem]
    where: dict[str, Any] = {"judge_url": f"http://127.0.0.1:{free_port()}/v1"} if problem == "down" else {}
    with judged(doppel, reply if callable(reply) else lambda heard: reply, judge_api=api, **where):
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    shown, _, folded = comment.partition("<details>")
    assert "Crash while exporting to PDF" in shown and "language model" not in shown
    assert "- `degraded: judge`: " in folded
    assert "a-key" not in comment and "127.0.0.1" not in comment


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_j1_what_may_pass_is_tried_once_more(doppel: Doppel, api: str) -> None:
    replies = iter([Reply("busy", 503)])
    with judged(doppel, lambda heard: next(replies, None) or saying("same")(heard), judge_api=api) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
    assert len(model.heard) == 2
    assert "degraded: judge" not in doppel.said(2)[0]


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_j2_a_server_that_cannot_force_the_form_is_asked_without(doppel: Doppel, api: str, status: int) -> None:
    """llama-cpp-python's server answers a form that it does not know with 500."""

    def script(heard: Heard) -> Reply | str:
        knows = "json_schema" not in json.dumps(heard.request)
        return saying("same")(heard) if knows else Reply("no such form", status)

    with judged(doppel, script, judge_api=api) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
        assert "degraded: judge" not in doppel.said(2)[0]
        tries = len(model.heard)
        doppel.open(AGAIN[0], AGAIN[1] + " Today.")
    assert len(model.heard) == tries + 1 and len(doppel.said(3)) == 1, "what it takes is remembered"
    if api == "openai":
        assert model.heard[-1].request["response_format"]["schema"] == SCHEMA


def test_j4_a_verdict_alone_suggests_nothing(doppel: Doppel) -> None:
    doppel.configure("label: suggest\nsuggest_closing: on\n")
    with judged(doppel, saying("same")):
        doppel.open(*FIRST, author="ann")
        issue = doppel.open(*SIBLING)
    assert "#1" in doppel.advice(2)
    assert issue.suggestions == []


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_j3_who_is_late_is_not_waited_for_and_left_alone_for_a_while(doppel: Doppel, api: str) -> None:
    over = threading.Event()

    def script(heard: Heard) -> str:
        over.wait(30)
        return saying("same")(heard)

    with judged(doppel, script, judge_api=api, judge_seconds=1.5) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
        assert "`degraded: judge`: it did not answer" in doppel.said(2)[0]
        doppel.open(AGAIN[0], AGAIN[1] + " Today.")
        assert "left alone for a while" in doppel.said(3)[0]
        over.set()
    assert not any("Today" in one.user for one in model.heard)


def test_j3_no_issue_waits_for_an_endpoint_that_failed_until_it_answers_again(doppel: Doppel) -> None:
    down = threading.Event()
    down.set()

    def script(heard: Heard) -> Reply | str:
        return Reply("busy", 503) if down.is_set() else saying("same")(heard)

    def asked_about(body: str) -> int:
        return sum(body in one.user for one in model.heard)

    with judged(doppel, script, pause=0.01) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
        assert "`degraded: judge`: it did not answer" in doppel.said(2)[0]
        wait_until(lambda: len(model.heard) > asked_about(AGAIN[1]) + 2, "a probe")
        doppel.open(AGAIN[0], AGAIN[1] + " Today.")
        assert asked_about("Today") == 0 and "left alone for a while" in doppel.said(3)[0]
        down.clear()
        judge = doppel.services.judge
        assert judge is not None
        breaker = judge.breaker
        wait_until(lambda: breaker is None or not breaker.is_open, "the end of it")
        doppel.open(AGAIN[0], AGAIN[1] + " Again.")
    assert asked_about("Again.") == 1 and "degraded: judge" not in doppel.said(4)[0]


def test_j6_what_is_over_a_budget_is_not_asked(doppel: Doppel) -> None:
    with judged(doppel, saying("same"), judge_calls_author=1) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN, author="bea")
        doppel.open(AGAIN[0], AGAIN[1] + " Today.", author="bea")
        assert len(model.heard) == 1
        doppel.open(AGAIN[0], AGAIN[1] + " Again.", author="cem")
        assert len(model.heard) == 2
    assert "`degraded: judge`: its budget is used up for now" in doppel.said(3)[0]
    doppel.said(2), doppel.said(4)


@pytest.mark.parametrize(
    ("host", "settings", "asked"),
    [
        ("public", "judge:\n  private: on\n", 0),
        ("all", "mode: comment\n", 0),
        ("all", "judge:\n  private: on\n", 1),
        ("all", "judge: off\n", 0),
    ],
)
def test_c6a_private_texts_go_there_only_with_two_consents(
    doppel: Doppel, host: str, settings: str, asked: int
) -> None:
    doppel.configure(settings)
    doppel.do.set_private(doppel.repo, True)
    with judged(doppel, saying("same"), remote_text=host) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN)
        assert len(model.heard) == asked
    doppel.said(2)


def test_j2_what_differs_is_told_from_what_is_the_same(doppel: Doppel) -> None:
    """One question an arrival, with all that is likely enough."""
    verdict = saying(lambda text: "same" if "PDF" in text else "different")
    with judged(doppel, verdict) as model:
        doppel.open(*FIRST, author="ann")
        doppel.open(*OTHER)
        doppel.open(*SIBLING, author="ann")
        model.heard.clear()
        doppel.open("Crash: export", "`PdfRenderError: page 7` and `PngRenderError: page 7` when exporting.")
        assert len(model.heard) == 1
    advice = doppel.advice(4)
    assert "exporting to PDF" in advice and "exporting to PNG" not in advice
    doppel.said(3)
