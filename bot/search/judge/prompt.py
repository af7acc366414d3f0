"""Builds the prompt that the judge sends to a model, and reads the model's answer (J2, J4). Pure.

Three measures keep a hostile text from deciding about other issues:

- Each text stands between boundaries that its author cannot guess: a digest of all texts and a `secret`.
- The earlier issues get numbers from the same digest, so no text can name another issue.
- The judge's prompt has two controls among the earlier issues: a copy of the new issue's beginning, and a report about
  no program. A model that obeys "call all the same" or "call all different" fails on a control. Its answer is not used.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any, Protocol

from bot.domain.errors import DoppelError, Retryable
from bot.domain.judge_protocol import JudgedPair, JudgeIssue, JudgeQuestion, JudgeVerdict
from bot.text.error_messages import error_messages
from bot.text.invisible import without_invisible

PROMPT, CRITIC = "judge-3", "critic-3"
"""Files in `prompts/`. The store keeps verdicts under these names. Raise the number in a name if the file's words
change, or if texts are cut differently."""

TARGET_MAX, CANDIDATE_MAX, TITLE_MAX = 1_600, 1_100, 200
"""The most characters of the new issue's text, of an earlier issue's text, and of a title."""

_COPIED_CHARACTERS = 240

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "candidates": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "differs": {"type": "string"},
                    "shared_cause": {"type": "string"},
                    "verdict": {"type": "string", "enum": [verdict.value for verdict in JudgeVerdict]},
                },
                "required": ["number", "differs", "shared_cause", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["candidates"],
    "additionalProperties": False,
}
"""The verdict comes last, so that the model writes its reasons first."""

# Made-up control reports, about no program at all.
_CONTROLS = (
    ("The bakery's sign spells croissant with one s", "It hangs above the door in Mill Street. Please paint it anew."),
    ("The third step of the church tower is loose", "My foot slipped on Sunday. A carpenter should look at it."),
    ("Bus 14 leaves the harbour two minutes early", "I missed it three times this week, with a valid ticket."),
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question to a model. `name` names its file, and `numbers` maps numbers in the prompt to issues' real numbers.

    `copy` and `other` are the controls' numbers, or 0 without controls. A valid answer calls `other` different, and
    does not call `copy` different.
    """

    name: str
    system: str
    user: str
    numbers: Mapping[int, int]
    copy: int = 0
    other: int = 0


def question_key(question: JudgeQuestion, by: str = PROMPT) -> str:
    """The key of a question: a digest of all its texts and of `by`, which names the prompt and maybe the model (J2)."""
    return _digest(by, _content(question.target), *map(_content, question.candidates)).hex()[:32]


def build_judge_prompt(question: JudgeQuestion, secret: bytes = b"") -> Prompt:
    """The prompt about all candidates, in random order. Without a secret, the same texts give the same prompt."""
    target = question.target
    seed = _digest(PROMPT, _content(target), *map(_content, question.candidates), secret=secret)
    copy = JudgeIssue(0, target.title, target.body[:_COPIED_CHARACTERS], "open", target.created_at)
    title, body = _CONTROLS[seed[0] % len(_CONTROLS)]
    other = JudgeIssue(0, title, body, "open", target.created_at)
    # Each row has a random sort key, the issue's number in the prompt, and the issue.
    rows = [(*_prompt_number(seed, at), issue) for at, issue in enumerate((*question.candidates, copy, other))]
    numbers = {number: issue.number for _, number, issue in rows[:-2]}
    copy_number, other_number = (number for _, number, _ in rows[-2:])
    return _build_prompt(PROMPT, target, rows, seed, numbers, copy_number, other_number)


def build_critic_prompt(target: JudgeIssue, candidate: JudgeIssue, secret: bytes = b"") -> Prompt:
    """The prompt of the critic, who must confirm a verdict `SAME`. It has one candidate, as others may be hostile."""
    seed = _digest(CRITIC, _content(target), _content(candidate), secret=secret)
    order, number = _prompt_number(seed, 0)
    return _build_prompt(CRITIC, target, [(order, number, candidate)], seed, {number: candidate.number})


def sample_question() -> Prompt:
    """A question about made-up issues: number 1 is the same, number 2 is different."""
    day = datetime(2026, 1, 1, tzinfo=UTC)
    new = JudgeIssue(3, "Export to PDF stops at page 7", "It raises PdfRenderError.", "open", day)
    same = JudgeIssue(1, "PDF export ends early", "PdfRenderError when page 7 is exported.", "open", day)
    other = JudgeIssue(2, "Please add a dark mode", "The settings are too bright at night.", "open", day)
    return build_judge_prompt(JudgeQuestion(new, (same, other)))


def estimated_tokens(text: str) -> int:
    """An estimate of a text's tokens, at most a tenth off for logs and code. Each East Asian sign counts as a token."""
    signs = sum(char > "\u2e7f" for char in text)
    return round((len(text) - signs) / 3.8 + signs)


def _build_prompt(
    prompt: str,
    target: JudgeIssue,
    rows: Sequence[tuple[bytes, int, JudgeIssue]],
    seed: bytes,
    numbers: Mapping[int, int],
    copy: int = 0,
    other: int = 0,
) -> Prompt:
    boundary = seed[16:28].hex()
    parts = [_fenced(f"NEW issue, opened {_day(target.created_at)}", target, TARGET_MAX, boundary)]
    for _, number, issue in sorted(rows, key=lambda row: row[0]):
        state = f"closed {_day(issue.closed_at)}" if issue.state == "closed" and issue.closed_at else issue.state
        head = f"EARLIER issue {number}, opened {_day(issue.created_at)}, {state}"
        parts.append(_fenced(head, issue, CANDIDATE_MAX, boundary))
    return Prompt(
        prompt, _prompt_file(prompt).replace("{boundary}", boundary), "\n\n".join(parts), numbers, copy, other
    )


def _prompt_number(seed: bytes, at: int) -> tuple[bytes, int]:
    """A sort key, and the number in the prompt. The number has seven digits; the last digit is `at` (0 to 9)."""
    digest = hashlib.blake2b(seed, salt=at.to_bytes(2), digest_size=16).digest()
    return digest[8:], 10 * (100_000 + int.from_bytes(digest[:4]) % 899_999) + at


def _fenced(head: str, issue: JudgeIssue, most: int, boundary: str) -> str:
    title = " ".join(without_invisible(issue.title).split())[:TITLE_MAX]
    body = _shortened(without_invisible(issue.body), most)
    return f"{head}\n<<< {boundary}\n{title}\n\n{body or '(no text)'}\n{boundary} >>>"


def _shortened(body: str, most: int) -> str:
    """About `most` characters of a longer body: its beginning, error messages from the middle, and its end."""
    if len(body) <= most:
        return body
    end = most // 3
    head, tail = body[: most - end], body[-end:]
    # If a cut splits a line, `middle` contains that whole line.
    middle = head.rpartition("\n")[2] + body[most - end : -end] + tail.partition("\n")[0]
    errors = ""
    # The one line that says what went wrong often stands in the middle of a long log.
    for line in error_messages(middle).values():
        if len(errors) + len(line) < end:
            errors += f"{without_invisible(line)}\n"
    parts = (head[: len(head) - len(errors)].strip(), errors.strip(), tail.strip())
    return "\n[…]\n".join(part for part in parts if part)


def _content(issue: JudgeIssue) -> str:
    return f"{issue.title}\0{issue.body}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _digest(*parts: str, secret: bytes = b"") -> bytes:
    digest = hashlib.blake2b(key=secret, digest_size=32)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8))
        digest.update(encoded)
    return digest.digest()


@cache
def _prompt_file(name: str) -> str:
    return resources.files("bot.search.judge").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


CAUSE_MAX = 160
"""How many characters of a cause or a difference are kept."""

ANSWER_MAX = 20_000
"""A longer answer is refused. A usual answer has a thousand characters."""

_REFERENCES = re.compile(r"[a-z][a-z0-9+.-]*:/\S*|www\.\S+|[@#]", re.IGNORECASE)
_LINE_MAX = 1_000
"""At most this many characters of a cause or a difference are read, because `_REFERENCES` takes quadratic time."""


class UnusableAnswer(DoppelError):
    """The answer cannot be used. The message says why, and quotes nothing from the answer."""


def read_answer(text: str, prompt: Prompt) -> dict[int, JudgedPair]:
    """The verdict about each candidate, by the issue's real number.

    Raises UnusableAnswer if the answer does not have exactly one verdict for each candidate, or fails on a control.
    """
    if len(text) > ANSWER_MAX:
        raise UnusableAnswer("it is far too long")
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        # The answer is a Markdown code block, perhaps with the name of the language.
        text = text.strip("`").removeprefix("json")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableAnswer("it is not JSON") from None
    return check_answer(answer, prompt)


def check_answer(answer: Any, prompt: Prompt) -> dict[int, JudgedPair]:
    """`read_answer` for parsed JSON."""
    try:
        rows = [(one["number"], _read_verdict(one)) for one in answer["candidates"]]
        verdicts = dict(rows)
    except (KeyError, TypeError, ValueError):
        raise UnusableAnswer("it does not have the form that was asked for") from None
    asked = {*prompt.numbers, prompt.copy, prompt.other} - {0}  # 0: no controls.
    if len(verdicts) != len(rows) or set(verdicts) != asked or not all(type(number) is int for number in verdicts):
        raise UnusableAnswer("it is not about the issues that were asked about")
    if prompt.copy and verdicts[prompt.copy].verdict is JudgeVerdict.DIFFERENT:
        raise UnusableAnswer("it calls a copy of the issue different")
    if prompt.other and verdicts[prompt.other].verdict is not JudgeVerdict.DIFFERENT:
        raise UnusableAnswer("it calls a report of something else the same or related")
    return {real_number: verdicts[number] for number, real_number in prompt.numbers.items()}


def _read_verdict(one: Any) -> JudgedPair:
    return JudgedPair(JudgeVerdict(one["verdict"]), _line(one.get("shared_cause")), _line(one.get("differs")))


def _line(value: Any) -> str:
    """A short line without addresses, mentions and references; empty if the model left out the field."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    return " ".join(_REFERENCES.sub(" ", without_invisible(value[:_LINE_MAX])).split())[:CAUSE_MAX]


class EndpointError(Retryable):
    """The endpoint does not answer, refuses, or asks for a pause of `after` seconds.

    The message is for the host's operator, and quotes neither key nor texts.
    """


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, the tokens that the endpoint counted, and the endpoint's name for the model.

    `cut` says that the answer was cut off.
    """

    text: str
    tokens_in: int
    tokens_out: int
    model: str
    cut: bool = False


class Endpoint(Protocol):
    """A model behind an address. Safe to share between threads."""

    @property
    def model(self) -> str:
        """The model's name in the host's settings."""

    def ask(self, question: Prompt, seconds: float) -> Completion:
        """Ask a question. Raises EndpointError, or UnusableAnswer if the reply is not a model's message."""


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a million tokens, in the host's currency: `into` the model, and `out` of the model."""

    into: float = 0.0
    out: float = 0.0

    def of(self, tokens_in: float, tokens_out: float) -> float:
        return (self.into * tokens_in + self.out * tokens_out) / 1_000_000
