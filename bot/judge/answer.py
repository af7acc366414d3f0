"""What a model wrote, read as an answer to a question, or as none (J3). Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from bot.errors import DoppelError
from bot.judge.question import Question
from bot.opinion import Said, Verdict
from bot.text.invisible import without_invisible

CAUSE_MAX = 160
"""Characters of what a model writes that are kept."""

ANSWER_MAX = 20_000
"""Characters of an answer that are read; one to five candidates has a thousand."""

_ACTIVE = re.compile(r"[a-z][a-z0-9+.-]*:/\S*|www\.\S+|[@#]", re.IGNORECASE)
_LINE_MAX = 1_000
"""Characters of a line that are looked at: the pattern above takes time by the square of the length."""


class NoAnswer(DoppelError):
    """What came back is no answer; the message says why, and quotes nothing of it."""


def read_answer(text: str, question: Question) -> dict[int, Said]:
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


def taken(answer: Any, question: Question) -> dict[int, Said]:
    """The same, of what was JSON."""
    try:
        given = [(one["number"], _said(one)) for one in answer["candidates"]]
        said = dict(given)
    except (KeyError, TypeError, ValueError):
        raise NoAnswer("it does not have the form that was asked for") from None
    asked = {*question.numbers, question.copy, question.other} - {0}
    if len(said) != len(given) or set(said) != asked or not all(type(number) is int for number in said):
        raise NoAnswer("it is not about the issues that were asked about")
    if question.copy and said[question.copy].verdict is Verdict.DIFFERENT:
        raise NoAnswer("it calls a copy of the issue different")
    if question.other and said[question.other].verdict is not Verdict.DIFFERENT:
        raise NoAnswer("it calls a report of something else the same or related")
    return {own: said[number] for number, own in question.numbers.items()}


def _said(one: Any) -> Said:
    return Said(Verdict(one["verdict"]), _line(one.get("shared_cause")), _line(one.get("differs")))


def _line(value: Any) -> str:
    """On one line and short, without addresses and what makes mentions. A model that leaves it out has still given its
    verdict.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    return " ".join(_ACTIVE.sub(" ", without_invisible(value[:_LINE_MAX])).split())[:CAUSE_MAX]
