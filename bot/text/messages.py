"""Finds error messages and codes in an issue's text: names from code, paths, versions, error codes.

The text is hostile: each step is linear in the length read, and the results are bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import chain, islice

from bot.text.terms import status_code, without_noise
from bot.text.words import separate_scripts, split_words

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
# Values that differ between two reports of one error: numbers, addresses, quoted names, paths. The apostrophes of
# "can't" and "isn't" are no quotes.
_VALUE = re.compile(
    r"0x[0-9a-fA-F]+|\d+|\"[^\"\n]{0,80}\"|(?<![^\W\d_])'[^'\n]{0,80}'(?![^\W\d_])|`[^`\n]{0,80}`|\S*[/\\]\S*"
)
# Typographic quotes and apostrophes, and those on a keyboard.
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")
_QUOTED = re.compile(r"`([^`\n]+)`")
# Lines that all tracebacks have (P3); the exception and its message are the evidence.
_FRAME = re.compile(
    r"traceback \(most recent call last\):?$|at [\w.$<>/@]+|file \"[^\"]*\", line \d+|(?:thread|goroutine) #?\d+\b"
    r"|#\d+:? +0x|stack ?trace:?$|(?:caused by|exception|error):?$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"^[\s>*#`$%|+-]+")
_LONGEST_PHRASE = 6


def error_messages(body: str) -> Mapping[str, str]:
    """The error messages that a body quotes, in order, at most 12: comparable form → the line as written.

    Two reports of one error rarely agree to the letter, so the comparable form has no numbers, addresses, quoted names
    and paths. A message needs three words, since `error: exit` says nothing.
    """
    found: dict[str, str] = {}
    for line in _telling(without_noise(body)):
        words = split_words(separate_scripts(_fixed(line, " ")).lower())
        if len(words) >= _FEWEST_WORDS:
            found.setdefault(" ".join(words), line)
            if len(found) == MOST_MESSAGES:
                break
    return found


def _telling(text: str) -> Iterator[str]:
    """The lines about an error, without Markdown's marks."""
    for line in text.splitlines()[:_LINES_READ]:
        bare = _MARKUP.sub("", line).strip()
        if not _FRAME.match(bare):
            yield from (said for said in _quoted(line) or [bare] if _SHORTEST <= len(said) <= _LONGEST and _tells(said))


def _quoted(line: str) -> list[str]:
    """The error messages that a sentence quotes as code; these are the evidence then, and not the sentence."""
    return [said for said in _QUOTED.findall(line) if len(said.split()) >= _FEWEST_WORDS and _tells(said)]


def _tells(line: str) -> bool:
    return bool(_SAID.search(separate_scripts(line.translate(_STRAIGHT))) or _NAMED.search(line))


def _fixed(line: str, between: str) -> str:
    """A line without the values that differ between reports."""
    return _VALUE.sub(between, line.translate(_STRAIGHT))


def searchable_phrase(line: str) -> str:
    """The longest run of words that another report would have too, at most six; "" for fewer than three."""
    runs = (split_words(run) for run in _fixed(line[:_LONGEST], "\n").replace(":", "\n").splitlines())
    longest = max(runs, key=len, default=[])
    return " ".join(longest[:_LONGEST_PHRASE]) if len(longest) >= 3 else ""


def in_common(mine: str, theirs: str) -> str:
    """What two lines of error text share, in the spelling of `mine`, with “…” for what differs in between.

    Empty for fewer than three words. Backticks do not count.
    """
    # Messages are not longer, and comparing takes more than quadratic time.
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


#: The most different codes of one text; later ones are left out.
MOST_CODES = 200
_LONGEST_CODE = 100
_RUN_OF_WORDS = 3

_CHUNK = re.compile(r"[\w$@][\w$@./\\:+-]*")
_JOINING = "./\\:+-"
# What follows a name and differs between two reports: a line, a column, an offset in hexadecimal.
_PLACE = re.compile(r"(?::\d+)+$|\+0x[0-9a-f]+$")
_DATA = re.compile(r"(?:0x)?[0-9a-f]{7,}|\d+|[\d:.+tz-]{8,}")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,4}(?:[-.]?(?:rc|beta|alpha|ga|dev|pre)[.-]?\d*)?")
_INNER_CAPITAL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_SEPARATORS = "/\\:"
_NAMES = re.compile(r"[^\W\d][\w$]*")


def codes(text: str) -> Counter[str]:
    """How often each code occurs, in lower case: `net/http`, `os.file.read`, `e1042`, `1.8.3`, `enoent_retry`.

    The last part of a path counts too, and the last name of a dotted one, because people write the same function in
    several ways. Line numbers, addresses and times do not count; `0xc0000005` is a status code.
    """
    found = Counter(chain.from_iterable(map(_of, _CHUNK.findall(separate_scripts(text)))))
    return found if len(found) <= MOST_CODES else Counter(dict(islice(found.items(), MOST_CODES)))


def message_terms(text: str) -> Counter[str]:
    """The error messages of a text, and their runs of three words, so that two that differ a little are alike."""
    return Counter(chain.from_iterable(dict.fromkeys((message, *runs(message))) for message in error_messages(text)))


def runs(message: str) -> list[str]:
    """The runs of three words in an error message, in its comparable form."""
    words = message.split()
    return [" ".join(words[start : start + _RUN_OF_WORDS]) for start in range(len(words) - _RUN_OF_WORDS + 1)]


def _of(chunk: str) -> tuple[str, ...]:
    """The codes in a chunk without spaces; none for a plain word."""
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
