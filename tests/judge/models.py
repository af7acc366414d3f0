"""Scripts for `bot.simulator.language_model`: models that read the question as it is sent, and what they make of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bot.simulator.language_model import Heard

_TEXT = re.compile(r"(NEW issue|EARLIER issue (\d+)), [^\n]*\n<<< ([0-9a-f]{24})\n(.*?)\n\3 >>>", re.DOTALL)


class Read(NamedTuple):
    """The new issue's text, and those of the earlier ones by their numbers."""

    new: str
    earlier: Mapping[int, str]


def read(heard: Heard) -> Read:
    """What a model that keeps to the fences reads."""
    texts = [(int(number or 0), text) for _, number, _, text in _TEXT.findall(heard.user)]
    return Read(texts[0][1], dict(texts[1:]))


Entry = dict[str, Any]


def entry(number: int, verdict: str, cause: str = "") -> Entry:
    return {"number": number, "differs": "", "shared_cause": cause, "verdict": verdict}


def answer(*entries: Entry) -> str:
    return json.dumps({"candidates": list(entries)})


def saying(verdict: Callable[[str], str] | str, cause: str = "") -> Callable[[Heard], str]:
    """A model that calls a copy the same, a bakery and the like different, and of all else says this."""

    def script(heard: Heard) -> str:
        new, earlier = read(heard)
        return answer(*(entry(number, _of(text, new, verdict), cause) for number, text in earlier.items()))

    return script


def _of(text: str, new: str, verdict: Callable[[str], str] | str) -> str:
    if new.startswith(text.removesuffix(" […]")):
        return "same"
    if re.search("bakery|carpenter|Bus 14", text):
        return "different"
    return verdict if isinstance(verdict, str) else verdict(text)
