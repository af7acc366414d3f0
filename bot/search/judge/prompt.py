"""The prompt that the judge sends to a model, and how its answer is read (J2, J4). Pure.

Three things keep a hostile text from deciding about others:

- Each text stands between boundaries that it cannot name: they are made from all texts and a `secret`.
- The earlier issues get numbers made in the same way, so no text can name another issue.
- Two controls stand among them: a copy of the new issue's beginning, and a report about another program. A model that
  obeys "call all of them the same" or "different" gives itself away, and its answer is dropped.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, Protocol

from bot.domain.errors import DoppelError, Retryable
from bot.domain.judge_protocol import JudgedPair, JudgeIssue, JudgeQuestion, JudgeVerdict
from bot.text.invisible import without_invisible

PROMPT, CRITIC = "judge-1", "critic-1"
"""Files in `prompts/`. A new wording needs a new file and number, because verdicts are kept by these names."""

TARGET_MAX, CANDIDATE_MAX, TITLE_MAX = 1_600, 1_100, 200
"""Characters of the new issue's text, of an earlier one's, and of a title."""

_COPIED = 240

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
"""The verdict comes last, so that a model names its reasons first."""

# Reports that are about no program at all.
_OTHERS = (
    ("The bakery's sign spells croissant with one s", "It hangs above the door in Mill Street. Please paint it anew."),
    ("The third step of the church tower is loose", "My foot slipped on Sunday. A carpenter should look at it."),
    ("Bus 14 leaves the harbour two minutes early", "I missed it three times this week, with a valid ticket."),
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """`numbers` maps an issue's number in the prompt to its own. A valid answer calls the control `copy` anything but
    different, and `other` different.
    """

    prompt: str
    system: str
    user: str
    numbers: Mapping[int, int]
    copy: int = 0
    other: int = 0


def pair_key(target: JudgeIssue, candidate: JudgeIssue, by: str) -> str:
    """The key of a verdict: both texts, the model and the prompt (J2)."""
    return _digest(by, _content(target), _content(candidate)).hex()[:32]


def question_key(pairs: JudgeQuestion, prompt: str = PROMPT) -> str:
    """The key of a whole question, for any model."""
    return _digest(prompt, _content(pairs.target), *map(_content, pairs.candidates)).hex()[:32]


def question(pairs: JudgeQuestion, secret: bytes = b"") -> Prompt:
    """Ask about all candidates at once, in random order. Without a secret the prompt is always the same."""
    begun = _digest(PROMPT, _content(pairs.target), *map(_content, pairs.candidates), secret=secret)
    copy = JudgeIssue(0, pairs.target.title, pairs.target.body[:_COPIED], "open", pairs.target.created_at)
    title, body = _OTHERS[begun[0] % len(_OTHERS)]
    other = JudgeIssue(0, title, body, "open", pairs.target.created_at)
    rows = [(*_numbered(begun, at), text) for at, text in enumerate((*pairs.candidates, copy, other))]
    numbers = {number: text.number for _, number, text in rows[:-2]}
    return _written(PROMPT, pairs.target, rows, begun, numbers, rows[-2][1], rows[-1][1])


def build_critic_prompt(target: JudgeIssue, candidate: JudgeIssue, secret: bytes = b"") -> Prompt:
    """Ask a critic about one candidate alone, out of reach of the other texts."""
    begun = _digest(CRITIC, _content(target), _content(candidate), secret=secret)
    order, number = _numbered(begun, 0)
    return _written(CRITIC, target, [(order, number, candidate)], begun, {number: candidate.number})


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, within a tenth for logs and code."""
    signs = sum(char > "\u2e7f" for char in text)
    return round((len(text) - signs) / 3.8 + signs)


def _written(
    prompt: str,
    target: JudgeIssue,
    rows: Sequence[tuple[bytes, int, JudgeIssue]],
    begun: bytes,
    numbers: Mapping[int, int],
    copy: int = 0,
    other: int = 0,
) -> Prompt:
    boundary = begun[16:28].hex()
    parts = [_fenced(f"NEW issue, opened {_day(target.created_at)}", target, TARGET_MAX, boundary)]
    for _, number, text in sorted(rows, key=lambda row: row[0]):
        state = f"closed {_day(text.closed_at)}" if text.state == "closed" and text.closed_at else text.state
        head = f"EARLIER issue {number}, opened {_day(text.created_at)}, {state}"
        parts.append(_fenced(head, text, CANDIDATE_MAX, boundary))
    return Prompt(prompt, _prompt(prompt).replace("{boundary}", boundary), "\n\n".join(parts), numbers, copy, other)


def _numbered(begun: bytes, at: int) -> tuple[bytes, int]:
    """A key to sort an earlier issue by, and its number in the prompt: seven digits, all different."""
    digest = hashlib.blake2b(begun, salt=at.to_bytes(2), digest_size=16).digest()
    return digest[8:], 1_000_000 + int.from_bytes(digest[:4]) % 899_999 * 10 + at


def _fenced(head: str, text: JudgeIssue, most: int, boundary: str) -> str:
    title = " ".join(without_invisible(text.title).split())[:TITLE_MAX]
    body = without_invisible(text.body)
    if len(body) > most:
        # The error often stands at the end of a long log.
        begin = most * 2 // 3
        body = f"{body[:begin].rstrip()}\n[…]\n{body[begin - most :].lstrip()}"
    return f"{head}\n<<< {boundary}\n{title}\n\n{body or '(no text)'}\n{boundary} >>>"


def _content(text: JudgeIssue) -> str:
    return f"{text.title}\0{text.body}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _digest(*parts: str, secret: bytes = b"") -> bytes:
    made = hashlib.blake2b(key=secret, digest_size=32)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        made.update(len(encoded).to_bytes(8))
        made.update(encoded)
    return made.digest()


@cache
def _prompt(name: str) -> str:
    return resources.files("bot.search.judge").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


CAUSE_MAX = 160
"""Characters that are kept of a cause."""

ANSWER_MAX = 20_000
"""Characters of an answer that are read; a usual one has a thousand."""

_ACTIVE = re.compile(r"[a-z][a-z0-9+.-]*:/\S*|www\.\S+|[@#]", re.IGNORECASE)
_LINE_MAX = 1_000
"""Characters of a line that are read: the pattern above takes quadratic time."""


class UnusableAnswer(DoppelError):
    """The answer cannot be used. The message says why, and quotes nothing."""


def read_answer(text: str, question: Prompt) -> dict[int, JudgedPair]:
    """What is said of each candidate, by the issue's own number. Raises UnusableAnswer where not just that was
    answered.
    """
    if len(text) > ANSWER_MAX:
        raise UnusableAnswer("it is far too long")
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        # A block of Markdown, perhaps with the name of the language.
        text = text.strip("`").removeprefix("json")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableAnswer("it is not JSON") from None
    return check_answer(answer, question)


def check_answer(answer: Any, question: Prompt) -> dict[int, JudgedPair]:
    """`read_answer` for parsed JSON."""
    try:
        given = [(one["number"], _said(one)) for one in answer["candidates"]]
        said = dict(given)
    except (KeyError, TypeError, ValueError):
        raise UnusableAnswer("it does not have the form that was asked for") from None
    asked = {*question.numbers, question.copy, question.other} - {0}
    if len(said) != len(given) or set(said) != asked or not all(type(number) is int for number in said):
        raise UnusableAnswer("it is not about the issues that were asked about")
    if question.copy and said[question.copy].verdict is JudgeVerdict.DIFFERENT:
        raise UnusableAnswer("it calls a copy of the issue different")
    if question.other and said[question.other].verdict is not JudgeVerdict.DIFFERENT:
        raise UnusableAnswer("it calls a report of something else the same or related")
    return {own: said[number] for number, own in question.numbers.items()}


def _said(one: Any) -> JudgedPair:
    return JudgedPair(JudgeVerdict(one["verdict"]), _line(one.get("shared_cause")), _line(one.get("differs")))


def _line(value: Any) -> str:
    """A short line without addresses and mentions; empty if the model left it out."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    return " ".join(_ACTIVE.sub(" ", without_invisible(value[:_LINE_MAX])).split())[:CAUSE_MAX]


class EndpointError(Retryable):
    """The endpoint cannot be reached, refuses, or asks for a pause of `after` seconds.

    The message is for the host's operator, and quotes neither key nor texts.
    """


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, the tokens that the endpoint counted, and its name for the model; `cut`: it was cut off."""

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
        """Put a question. Raises EndpointError, and UnusableAnswer where what came is no message of a model."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in the host's currency."""

    into: float = 0.0
    out: float = 0.0

    def of(self, tokens_in: float, tokens_out: float) -> float:
        return (self.into * tokens_in + self.out * tokens_out) / 1_000_000
