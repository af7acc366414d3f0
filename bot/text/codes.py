"""What a text holds besides words: names from code, paths, versions and error codes; and the words of error messages.

Everything here reads hostile text: each step is linear in the length read, and what is kept of one text is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, islice

from bot.text.messages import error_messages
from bot.text.terms import status_code
from bot.text.words import apart, separating

#: Different codes of one text that are kept, the first ones.
MOST_CODES = 200
_LONGEST_CODE = 100
_RUN_OF_WORDS = 3

_CHUNK = re.compile(r"[\w$@][\w$@./\\:+-]*")
_JOINING = "./\\:+-"
_SEPARATED = separating("_$@" + _JOINING)
# What stands behind a name and differs between two reports of one thing: a line, a column, an offset in hexadecimal.
_PLACE = re.compile(r"(?::\d+)+$|\+0x[0-9a-f]+$")
_DATA = re.compile(r"(?:0x)?[0-9a-f]{7,}|\d+|[\d:.+tz-]{8,}")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,4}(?:[-.]?(?:rc|beta|alpha|ga|dev|pre)[.-]?\d*)?")
_INNER_CAPITAL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_SEPARATORS = "/\\:"
_NAMES = re.compile(r"[^\W\d][\w$]*")


def codes(text: str) -> Counter[str]:
    """How often each code occurs, in lower case: `net/http`, `os.file.read`, `e1042`, `1.8.3`, `enoent_retry`.

    Of a path its last part counts too, and of a dotted name its last name: the same function is written in more ways
    than one. Line numbers are left out, and so are addresses and times; `0xc0000005` is a status code.
    """
    chunks = text.translate(_SEPARATED).split() if text.isascii() else _CHUNK.findall(apart(text))
    found = Counter(chain.from_iterable(map(_of, chunks)))
    return found if len(found) <= MOST_CODES else Counter(dict(islice(found.items(), MOST_CODES)))


def message_terms(text: str) -> Counter[str]:
    """The error messages of a text, and their runs of three words, by which two that differ a little are alike."""
    return Counter(chain.from_iterable(dict.fromkeys((message, *runs(message))) for message in error_messages(text)))


def runs(message: str) -> list[str]:
    """The runs of three words of an error message in its comparable form, which has at least three."""
    words = message.split()
    return [" ".join(words[start : start + _RUN_OF_WORDS]) for start in range(len(words) - _RUN_OF_WORDS + 1)]


def _of(chunk: str) -> tuple[str, ...]:
    """The codes in a run of characters without spaces; none for a plain word."""
    if chunk.isalpha() and chunk.islower():
        return ()
    chunk = chunk.lstrip(_JOINING)
    if len(chunk) > _LONGEST_CODE:
        return ()
    chunk = chunk.rstrip(_JOINING)
    if chunk.isalpha() and not _INNER_CAPITAL.search(chunk):
        return ()
    # The expressions are asked where they can match: half of the words of a log are new, and take all of these steps.
    lower = (_PLACE.sub("", chunk) if ":" in chunk or "+0x" in chunk else chunk).lower()
    if "." in lower and _VERSION.fullmatch(lower):
        return (lower.removeprefix("v"),)
    plain = lower.isalpha() and not _INNER_CAPITAL.search(chunk)
    if plain or len(lower) < 3:
        return ()
    if _DATA.fullmatch(lower):
        code = status_code(lower)
        return (code,) if code else ()
    found = [lower]
    last = lower[1 + max(map(lower.rfind, _SEPARATORS)) :]
    if len(last) > 2 and last != lower and not _DATA.fullmatch(last):
        found.append(last)
    names = _NAMES.findall(last) if "." in last else ()
    if len(names) > 1 and len(names[-1]) > 2:
        found.append(names[-1])
    return tuple(dict.fromkeys(found))
