"""Error messages in an issue's text: found, made comparable, and cut to what can be searched for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from bot.text.terms import without_noise
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
_SAID = re.compile(rf"\b(?:{'|'.join(_SIGNS)})\b")
_SAID_ANYHOW = re.compile(_SAID.pattern, re.IGNORECASE)
_NAMED = re.compile(r"[a-z](?:Error|Exception)\b")
# What differs between two reports of one error: numbers, addresses, quoted names, paths. The apostrophes of "can't" and
# "isn't" are no quotes.
_VALUE = re.compile(r"0x[0-9a-fA-F]+|\d+|\"[^\"\n]{0,80}\"|(?<![^\W\d_])'[^'\n]{0,80}'(?![^\W\d_])|`[^`\n]{0,80}`")
_VALUE_OR_PATH = re.compile(rf"{_VALUE.pattern}|\S*[/\\]\S*")
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
    """The lines that tell of an error, without their marks. A plain search, which costs little, rules out most.

    It cannot do that with other lines than ASCII: which letters are one without regard to case is for `re` to say.
    """
    lower = text.lower()
    signs = [sign for sign in _SIGNS if sign in lower]
    if not signs and text.isascii():
        return
    lines, lowered = text.splitlines()[:_LINES_READ], lower.splitlines()[:_LINES_READ]
    chosen = {place for sign in signs for place, line in enumerate(lowered) if sign in line}
    if not text.isascii():
        chosen.update(place for place, line in enumerate(lines) if not line.isascii())
    for place in sorted(chosen):
        line = _MARKUP.sub("", lines[place]).strip()
        if _FRAME.match(line):
            continue
        said_here = _quoted(lines[place]) or [line]
        yield from (said for said in said_here if _SHORTEST <= len(said) <= _LONGEST and _tells(said))


def _quoted(line: str) -> list[str]:
    """The error messages that a sentence quotes as code. They are the evidence then, and not the sentence."""
    return [said for said in _QUOTED.findall(line) if len(said.split()) >= _FEWEST_WORDS and _tells(said)]


def _tells(line: str) -> bool:
    said = _SAID.search(line.lower()) if line.isascii() else _SAID_ANYHOW.search(apart(line.translate(_STRAIGHT)))
    return bool(said or _NAMED.search(line))


def _fixed(line: str, between: str) -> str:
    """A line without what differs. Paths are looked for, which takes most of the time, where there can be any."""
    line = line if line.isascii() else line.translate(_STRAIGHT)
    return (_VALUE_OR_PATH if "/" in line or "\\" in line else _VALUE).sub(between, line)


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
