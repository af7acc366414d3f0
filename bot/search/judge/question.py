"""The question that a model gets (J2, J4): the prompt, the texts in a fence, the schema of the answer. Pure.

What keeps a text from speaking for others:

- a boundary around each text that no text can name, since it follows from all of them and from a `secret`;
- numbers made in the same way for the earlier issues, so that no text can say anything of another issue by its number;
- two controls among the earlier issues: a copy of the new one's beginning, and a report of another program. A model
  that obeys "call all of them the same" or "all of them different" says so of these, and has then given no answer.
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
from typing import Any

from bot.domain.errors import DoppelError
from bot.domain.judge_protocol import JudgedPair, JudgeIssue, JudgeQuestion, JudgeVerdict
from bot.text.invisible import without_invisible

PROMPT, CRITIC = "judge-1", "critic-1"
"""The files in `prompts/`. Another wording is another file with another number: kept answers are of one of them."""

TARGET_MAX, CANDIDATE_MAX, TITLE_MAX = 1_600, 1_100, 200
"""Characters of the new issue's text, of each earlier one's, and of a title."""

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
"""The verdict comes last, so that a model has named what speaks for and against it before."""

# Reports that are about no program with an issue tracker, whatever that is.
_OTHERS = (
    ("The bakery's sign spells croissant with one s", "It hangs above the door in Mill Street. Please paint it anew."),
    ("The third step of the church tower is loose", "My foot slipped on Sunday. A carpenter should look at it."),
    ("Bus 14 leaves the harbour two minutes early", "I missed it three times this week, with a valid ticket."),
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent. `numbers` are those in the question, each with the issue's own; of the controls, `copy` may be
    anything but different, and `other` nothing else.
    """

    prompt: str
    system: str
    user: str
    numbers: Mapping[int, int]
    copy: int = 0
    other: int = 0


def pair_key(target: JudgeIssue, candidate: JudgeIssue, by: str) -> str:
    """What an answer is kept by: both texts, and the model with the prompt (J2)."""
    return _digest(by, _content(target), _content(candidate)).hex()[:32]


def question_key(pairs: JudgeQuestion, prompt: str = PROMPT) -> str:
    """The same of a whole question, whichever model it is put to."""
    return _digest(prompt, _content(pairs.target), *map(_content, pairs.candidates)).hex()[:32]


def question(pairs: JudgeQuestion, secret: bytes = b"") -> Question:
    """The question about all candidates at once, their order by chance. Without a secret it is always the same."""
    begun = _digest(PROMPT, _content(pairs.target), *map(_content, pairs.candidates), secret=secret)
    copy = JudgeIssue(0, pairs.target.title, pairs.target.body[:_COPIED], "open", pairs.target.created_at)
    title, body = _OTHERS[begun[0] % len(_OTHERS)]
    other = JudgeIssue(0, title, body, "open", pairs.target.created_at)
    rows = [(*_numbered(begun, at), text) for at, text in enumerate((*pairs.candidates, copy, other))]
    numbers = {number: text.number for _, number, text in rows[:-2]}
    return _written(PROMPT, pairs.target, rows, begun, numbers, rows[-2][1], rows[-1][1])


def critical(target: JudgeIssue, candidate: JudgeIssue, secret: bytes = b"") -> Question:
    """The second, opposed question: about one candidate alone, so that no other text is in reach of it."""
    begun = _digest(CRITIC, _content(target), _content(candidate), secret=secret)
    order, number = _numbered(begun, 0)
    return _written(CRITIC, target, [(order, number, candidate)], begun, {number: candidate.number})


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has; on logs and code a tenth more or less."""
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
) -> Question:
    boundary = begun[16:28].hex()
    parts = [_fenced(f"NEW issue, opened {_day(target.created_at)}", target, TARGET_MAX, boundary)]
    for _, number, text in sorted(rows, key=lambda row: row[0]):
        state = f"closed {_day(text.closed_at)}" if text.state == "closed" and text.closed_at else text.state
        head = f"EARLIER issue {number}, opened {_day(text.created_at)}, {state}"
        parts.append(_fenced(head, text, CANDIDATE_MAX, boundary))
    return Question(prompt, _prompt(prompt).replace("{boundary}", boundary), "\n\n".join(parts), numbers, copy, other)


def _numbered(begun: bytes, at: int) -> tuple[bytes, int]:
    """Where an earlier issue stands in the question, and its number there: of seven digits, none like another."""
    digest = hashlib.blake2b(begun, salt=at.to_bytes(2), digest_size=16).digest()
    return digest[8:], 1_000_000 + int.from_bytes(digest[:4]) % 899_999 * 10 + at


def _fenced(head: str, text: JudgeIssue, most: int, boundary: str) -> str:
    title = " ".join(without_invisible(text.title).split())[:TITLE_MAX]
    body = without_invisible(text.body)
    body = body if len(body) <= most else body[:most].rstrip() + " […]"
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
"""Characters of what a model writes that are kept."""

ANSWER_MAX = 20_000
"""Characters of an answer that are read; one to five candidates has a thousand."""

_ACTIVE = re.compile(r"[a-z][a-z0-9+.-]*:/\S*|www\.\S+|[@#]", re.IGNORECASE)
_LINE_MAX = 1_000
"""Characters of a line that are looked at: the pattern above takes time by the square of the length."""


class NoAnswer(DoppelError):
    """What came back is no answer; the message says why, and quotes nothing of it."""


def read_answer(text: str, question: Question) -> dict[int, JudgedPair]:
    """What is said of each candidate, by the issue's own number. Raises NoAnswer where not just that was answered."""
    if len(text) > ANSWER_MAX:
        raise NoAnswer("it is far too long")
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        # A block of Markdown, perhaps with the name of the language.
        text = text.strip("`").removeprefix("json")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise NoAnswer("it is not JSON") from None
    return taken(answer, question)


def taken(answer: Any, question: Question) -> dict[int, JudgedPair]:
    """The same, of what was JSON."""
    try:
        given = [(one["number"], _said(one)) for one in answer["candidates"]]
        said = dict(given)
    except (KeyError, TypeError, ValueError):
        raise NoAnswer("it does not have the form that was asked for") from None
    asked = {*question.numbers, question.copy, question.other} - {0}
    if len(said) != len(given) or set(said) != asked or not all(type(number) is int for number in said):
        raise NoAnswer("it is not about the issues that were asked about")
    if question.copy and said[question.copy].verdict is JudgeVerdict.DIFFERENT:
        raise NoAnswer("it calls a copy of the issue different")
    if question.other and said[question.other].verdict is not JudgeVerdict.DIFFERENT:
        raise NoAnswer("it calls a report of something else the same or related")
    return {own: said[number] for number, own in question.numbers.items()}


def _said(one: Any) -> JudgedPair:
    return JudgedPair(JudgeVerdict(one["verdict"]), _line(one.get("shared_cause")), _line(one.get("differs")))


def _line(value: Any) -> str:
    """On one line and short, without addresses and what makes mentions. A model that leaves it out has still given its
    verdict.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    return " ".join(_ACTIVE.sub(" ", without_invisible(value[:_LINE_MAX])).split())[:CAUSE_MAX]
