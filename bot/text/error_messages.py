"""Finds error messages and codes (error codes, paths, versions, names from source code) in text.

The index compares issues by messages and codes, and comments quote them as reasons. The text may be hostile, so each
step takes linear time, and the results are bounded.
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

# A line with one of these words or phrases counts as an error message.
_SIGN_WORDS = """
error exception panic fatal traceback sigsegv sigabrt sigbus segfault segmentation assertion aborted denied refused
unexpected undefined invalid cannot can't couldn't failed failure timeout
"""
_SIGN_PHRASES = (
    "could not", "no such", "not found", "out of bounds", "out of memory", "out of range", "timed out", "unable to"
)  # fmt: skip
_SIGNS = (*_SIGN_WORDS.split(), *_SIGN_PHRASES)
# The lookahead for a sign's first letter halves the search's time.
_FIRST_LETTERS = "".join(sorted({sign[0] for sign in _SIGNS}))
_SIGN = re.compile(rf"\b(?=[{_FIRST_LETTERS}])(?:{'|'.join(_SIGNS)})\b", re.IGNORECASE)
_NAMED_ERROR = re.compile(r"[a-z](?:Error|Exception)\b")
# Values that differ between two reports of one error: memory addresses, numbers, quoted names, paths. The
# apostrophe in "can't" does not begin a quoted name.
_VALUE = re.compile(
    r"0x[0-9a-fA-F]+|\d+|\"[^\"\n]{0,80}\"|(?<![^\W\d_])'[^'\n]{0,80}'(?![^\W\d_])|`[^`\n]{0,80}`|\S*[/\\]\S*"
)
# Turns typographic quotes and apostrophes into those on a keyboard.
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")
_QUOTED = re.compile(r"`([^`\n]+)`")
# Lines that occur in every traceback (P3). Only the exception and its message are evidence.
_FRAME = re.compile(
    r"traceback \(most recent call last\):?$|at [\w.$<>/@]+|file \"[^\"]*\", line \d+|(?:thread|goroutine) #?\d+\b"
    r"|#\d+:? +0x|stack ?trace:?$|(?:caused by|exception|error):?$",
    re.IGNORECASE,
)
# Markdown's marks and the prompts of shells at the beginning of a line.
_MARKUP = re.compile(r"^[\s>*#`$%|+-]+")
_LONGEST_PHRASE = 6


def error_messages(body: str) -> Mapping[str, str]:
    """The first 12 error messages in a body. Maps the comparable form to the line as written.

    Two reports of one error rarely agree to the letter, so the comparable form leaves out numbers, memory addresses,
    quoted names and paths. A message needs at least three words, because `error: exit` says nothing.
    """
    found: dict[str, str] = {}
    for line in _error_lines(without_noise(body)):
        words = split_words(separate_scripts(_without_values(line, " ")).lower())
        if len(words) >= _FEWEST_WORDS:
            found.setdefault(" ".join(words), line)
            if len(found) == MOST_MESSAGES:
                break
    return found


def _error_lines(text: str) -> Iterator[str]:
    """The lines about an error, without Markdown's marks."""
    for line in text.splitlines()[:_LINES_READ]:
        bare = _MARKUP.sub("", line).strip()
        if not _FRAME.match(bare):
            messages = _quoted_messages(line) or [bare]
            yield from (one for one in messages if _SHORTEST <= len(one) <= _LONGEST and _names_an_error(one))


def _quoted_messages(line: str) -> list[str]:
    """The error messages that a sentence quotes as code. If there are any, the sentence around them is no evidence."""
    return [quote for quote in _QUOTED.findall(line) if len(quote.split()) >= _FEWEST_WORDS and _names_an_error(quote)]


def _names_an_error(line: str) -> bool:
    return bool(_SIGN.search(separate_scripts(_with_straight_quotes(line))) or _NAMED_ERROR.search(line))


def _without_values(line: str, replacement: str) -> str:
    """The line with `replacement` for each value that differs between reports."""
    return _VALUE.sub(replacement, _with_straight_quotes(line))


def _with_straight_quotes(line: str) -> str:
    return line if line.isascii() else line.translate(_STRAIGHT)


def searchable_phrase(line: str) -> str:
    """The longest run of words without a value (`_VALUE`) or colon, cut to six words. Other reports may have the run.

    "" if the run has fewer than three words.
    """
    parts = _without_values(line[:_LONGEST], "\n").replace(":", "\n").splitlines()
    longest = max(map(split_words, parts), key=len, default=[])
    return " ".join(longest[:_LONGEST_PHRASE]) if len(longest) >= 3 else ""


def in_common(mine: str, theirs: str) -> str:
    """The words that two lines of error text share, as spelled in `mine`. “…” stands for words of `mine` in between.

    Empty if the lines share fewer than three words. Backticks are ignored.
    """
    # No error message exceeds _LONGEST. The cut bounds the comparison, which takes more than quadratic time.
    mine, theirs = mine[:_LONGEST], theirs[:_LONGEST]
    my_words, their_words = mine.replace("`", "").split(), theirs.replace("`", "").split()
    kept: list[str] = []
    end = 0
    mine_folded, theirs_folded = [word.casefold() for word in my_words], [word.casefold() for word in their_words]
    matcher = SequenceMatcher(None, mine_folded, theirs_folded, autojunk=False)
    # The last matching block is always empty.
    for start, _, count in matcher.get_matching_blocks()[:-1]:
        if kept and start > end:
            kept.append("…")
        end = start + count
        kept += my_words[start:end]
    shared = " ".join(kept)
    return shared if len(split_words(shared)) >= 3 else ""


#: A text gives at most this many different codes; later codes are left out.
MOST_CODES = 200
_LONGEST_CODE = 100
_RUN_OF_WORDS = 3

# A chunk is a run of characters without spaces or brackets, such as `net/http.Serve:12`.
_CHUNK = re.compile(r"[\w$@][\w$@./\\:+-]*")
_JOINING = "./\\:+-"
# Suffixes of a name that differ between two reports: a line, a column, an offset in hexadecimal.
_PLACE = re.compile(r"(?::\d+)+$|\+0x[0-9a-f]+$")
# Memory addresses and hashes, numbers, times. These count as codes only if they are Windows status codes.
_DATA = re.compile(r"(?:0x)?[0-9a-f]{7,}|\d+|[\d:.+tz-]{8,}")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,4}(?:[-.]?(?:rc|beta|alpha|ga|dev|pre)[.-]?\d*)?")
# As in `readFile` and in `HTTPServer`.
_INNER_CAPITAL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_SEPARATOR = re.compile(r"[/\\:]")
_NAMES = re.compile(r"[^\W\d][\w$]*")


def codes(text: str) -> Counter[str]:
    """How often each code occurs, in lower case: `net/http`, `os.file.read`, `e1042`, `1.8.3`, `enoent_retry`.

    The last part of a path or dotted name counts too, because people write the same function in several ways. Line
    numbers, memory addresses and times do not count, but a Windows status code like `0xc0000005` does.
    """
    chunks = (chunk for chunk in _CHUNK.findall(separate_scripts(text)) if not (chunk.isalpha() and chunk.islower()))
    found = Counter(chain.from_iterable(map(_codes_in, chunks)))
    return found if len(found) <= MOST_CODES else Counter(dict(islice(found.items(), MOST_CODES)))


def message_terms(text: str) -> Counter[str]:
    """Counts the error messages of a text and their runs of three words: similar messages share some runs."""
    # A message of three words has one run, the message itself: count it once.
    return Counter(term for message in error_messages(text) for term in dict.fromkeys((message, *runs(message))))


def runs(message: str) -> list[str]:
    """The runs of three words in an error message; `message` must have the comparable form."""
    words = message.split()
    return [" ".join(words[start : start + _RUN_OF_WORDS]) for start in range(len(words) - _RUN_OF_WORDS + 1)]


def _codes_in(chunk: str) -> tuple[str, ...]:
    """The codes in a chunk; none for a plain word. `src/os.read:12` gives `src/os.read`, `os.read` and `read`."""
    chunk = chunk.lstrip(_JOINING)
    if len(chunk) > _LONGEST_CODE:
        return ()
    chunk = chunk.rstrip(_JOINING)
    if chunk.isalpha() and not _INNER_CAPITAL.search(chunk):
        return ()
    lower = (_PLACE.sub("", chunk) if ":" in chunk or "+0x" in chunk else chunk).lower()
    if "." in lower and _VERSION.fullmatch(lower):
        return (lower.removeprefix("v"),)
    # Without its line number, `main:12` is the plain word `main`.
    is_plain_word = lower.isalpha() and not _INNER_CAPITAL.search(chunk)
    if is_plain_word or len(lower) < 3:
        return ()
    if _DATA.fullmatch(lower):
        code = status_code(lower)
        return (code,) if code else ()
    found = [lower]
    last_part = _SEPARATOR.split(lower)[-1]
    if len(last_part) > 2 and last_part != lower and not _DATA.fullmatch(last_part):
        found.append(last_part)
    names = _NAMES.findall(last_part) if "." in last_part else ()
    if len(names) > 1 and len(names[-1]) > 2:
        found.append(names[-1])
    return tuple(dict.fromkeys(found))
