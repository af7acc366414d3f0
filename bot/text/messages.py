"""Error messages in an issue's text, and what it holds besides words: names from code, paths, versions, error codes.

Everything here reads hostile text: each step is linear in the length read, and what is kept of one text is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import chain, islice

from bot.text.terms import status_code, without_noise
from bot.text.words import apart, split_words

MOST_MESSAGES = 12
_LINES_READ = 400
_SHORTEST, _LONGEST = 8, 300
_FEWEST_WORDS = 3

_SIGN_WORDS = """
error exception panic fatal traceback sigsegv sigabrt sigbus segfault segmentation assertion aborted denied refused
unexpected undefined invalid cannot can't couldn't failed failure timeout
"""
_SIGN_PHRASES = (
    "could not", "no such", "not found", "out of bounds", "out of memory", "out of range", "timed out", "unable to"
)  # fmt: skip
_SIGNS = (*_SIGN_WORDS.split(), *_SIGN_PHRASES)
_SAID = re.compile(rf"\b(?:{'|'.join(_SIGNS)})\b", re.IGNORECASE)
_NAMED = re.compile(r"[a-z](?:Error|Exception)\b")
# What differs between two reports of one error: numbers, addresses, quoted names, paths. The apostrophes of "can't" and
# "isn't" are no quotes.
_VALUE = re.compile(
    r"0x[0-9a-fA-F]+|\d+|\"[^\"\n]{0,80}\"|(?<![^\W\d_])'[^'\n]{0,80}'(?![^\W\d_])|`[^`\n]{0,80}`|\S*[/\\]\S*"
)
# As compilers and editors write quotes and apostrophes, and as keyboards do.
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")
_QUOTED = re.compile(r"`([^`\n]+)`")
# The frame of a traceback, which all have (P3): what tells is the exception and its message.
_FRAME = re.compile(
    r"traceback \(most recent call last\):?$|at [\w.$<>/@]+|file \"[^\"]*\", line \d+|(?:thread|goroutine) #?\d+\b"
    r"|#\d+:? +0x|stack ?trace:?$|(?:caused by|exception|error):?$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"^[\s>*#`$%|+-]+")
_LONGEST_PHRASE = 6


def error_messages(body: str) -> Mapping[str, str]:
    """The error messages that a body quotes: a comparable form → the line as written, in order, at most 12.

    Two reports of one error rarely agree to the letter: line numbers, addresses, quoted names and paths are taken out
    of the comparable form. A message needs three words, since `error: exit` says nothing.
    """
    found: dict[str, str] = {}
    for line in _telling(without_noise(body)):
        words = split_words(apart(_fixed(line, " ")).lower())
        if len(words) >= _FEWEST_WORDS:
            found.setdefault(" ".join(words), line)
            if len(found) == MOST_MESSAGES:
                break
    return found


def _telling(text: str) -> Iterator[str]:
    """The lines that tell of an error, without their marks."""
    for line in text.splitlines()[:_LINES_READ]:
        bare = _MARKUP.sub("", line).strip()
        if not _FRAME.match(bare):
            yield from (said for said in _quoted(line) or [bare] if _SHORTEST <= len(said) <= _LONGEST and _tells(said))


def _quoted(line: str) -> list[str]:
    """The error messages that a sentence quotes as code. They are the evidence then, and not the sentence."""
    return [said for said in _QUOTED.findall(line) if len(said.split()) >= _FEWEST_WORDS and _tells(said)]


def _tells(line: str) -> bool:
    return bool(_SAID.search(apart(line.translate(_STRAIGHT))) or _NAMED.search(line))


def _fixed(line: str, between: str) -> str:
    """A line without what differs."""
    return _VALUE.sub(between, line.translate(_STRAIGHT))


def searchable_phrase(line: str) -> str:
    """The longest run of words of a message that another report would have too, at most six; "" if under three."""
    runs = (split_words(run) for run in _fixed(line[:_LONGEST], "\n").replace(":", "\n").splitlines())
    longest = max(runs, key=len, default=[])
    return " ".join(longest[:_LONGEST_PHRASE]) if len(longest) >= 3 else ""


def in_common(mine: str, theirs: str) -> str:
    """What two lines of error text both say, in the spelling of `mine`; what differs in between is “…”.

    Empty where that is less than three words. Code marks are left out: they are how a text is written, and no word.
    """
    # No message is longer; to compare two of any length takes a time that is quadratic in it, and worse.
    mine, theirs = mine[:_LONGEST], theirs[:_LONGEST]
    ours = mine.replace("`", "").split()
    others = [word.casefold() for word in theirs.replace("`", "").split()]
    kept: list[str] = []
    behind = 0
    matcher = SequenceMatcher(None, [word.casefold() for word in ours], others, autojunk=False)
    for start, _, count in matcher.get_matching_blocks():
        if kept and count and start > behind:
            kept.append("…")
        kept += ours[start : start + count]
        behind = start + count if count else behind
    said = " ".join(kept)
    return said if len(split_words(said)) >= 3 else ""


#: Different codes of one text that are kept, the first ones.
MOST_CODES = 200
_LONGEST_CODE = 100
_RUN_OF_WORDS = 3

_CHUNK = re.compile(r"[\w$@][\w$@./\\:+-]*")
_JOINING = "./\\:+-"
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
    found = Counter(chain.from_iterable(map(_of, _CHUNK.findall(apart(text)))))
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
