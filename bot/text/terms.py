"""An issue's text as terms: stems of words, identifiers whole and in their parts, pairs of signs where no space parts
words.

Everything here reads hostile text: each step is linear in the length read, and the length read is bounded.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

import snowballstemmer

from bot.text.titles import subject
from bot.text.words import MARKS, STOP_WORDS, UNSPACED, apart

# Status codes of Windows: what a process ended with, or why a call failed. They look like addresses and other data, and
# are none: two crashes with one code have something in common. Hexadecimal and decimal, signed and unsigned, they are
# one: 0xC0000005, -1073741819 and 3221225477. Source: Microsoft's [MS-ERREF], 2.1 (HRESULT, a failure has the highest
# bit) and 2.3 (NTSTATUS, an error has the two highest). The last two are those of uncaught exceptions: C++ and .NET.
_HEXADECIMAL = re.compile(r"0x(?:[8c][0-9a-f]{7}|e06d7363|e0434352)", re.IGNORECASE)
_DECIMAL = re.compile(r"[0-9]{10}")
# Decimal numbers of ten digits are many things, so of these only what is usual: facilities 4 to 7, and 0 of NTSTATUS.
_USUAL = (range(0x8004_0000, 0x8008_0000), range(0xC000_0000, 0xC001_0000))


def status_code(word: str) -> str:
    """The code in lower-case hexadecimal that a word is, its sign left out or not; empty where it is none."""
    if _HEXADECIMAL.fullmatch(word):
        return word.lower()
    if _DECIMAL.fullmatch(word):
        value = int(word)
        for unsigned in (value, 2**32 - value):
            if any(unsigned in usual for usual in _USUAL):
                return f"{unsigned:#010x}"
    return ""


#: Characters of a text that are read. What an issue is about is said early; what follows is mostly logs.
TITLE_READ = 400
BODY_READ = 6_000
#: How many different terms of one issue are counted for word rarity, its title's first.
MOST_COUNTED = 300
_LONGEST_KEPT = 40

_FILLERS = """
i me my we us our you your he she they them their its who which what when where why how if then than there here
was were been being am has had does did done no yes so but because also just only very too any some all more most
other such into out up down over after before about again while during between both each few own same
hi hello thanks thank please etc eg ie
p pre br div span code quot amp lt gt nbsp href src img
"""
_IGNORED = STOP_WORDS | frozenset(_FILLERS.split())

_RAW = re.compile(rf"[^\W_](?:\w|[{MARKS}])*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_URL = re.compile(r"\bhttps?://\S+")
# "GitHub Flavored Markdown Spec", 4.6: a comment that begins a line is a block, and ends a paragraph as an empty line
# does.
_BLOCK_BEGINS = re.compile(r"(?:^|\n) {0,3}\Z")
_PARAGRAPH_ENDS = re.compile(r"\n(?=[ \t\r]*\n| {0,3}<!--)")
# What no other report has: the colours of a terminal, UUIDs, and when a line was logged.
_ONCE = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|(?<![\w:])(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_DATA = re.compile(r"(?:0x)?[0-9a-fA-F]{7,}|\d{5,}")
_SHORTEST_DATA = 5
_UNSPACED = re.compile(f"[{UNSPACED}]")
# Full-width letters and digits, and half-width kana.
_WIDTHS = re.compile("[\uff01-\uff9f]+")
# Letters in whose place many people write the other one, and capitals write it.
_ALIKE = str.maketrans("ёЁıİ", "еЕiI")
# A letter with the marks above and below it, of which nobody writes more.
_SIGN = re.compile(rf"[^{MARKS}][{MARKS}]{{0,8}}")

# English has no longer words, and stemming takes time by the letter.
_LONGEST_WORD = 40
_LONGEST_TERM = 64
_english = snowballstemmer.stemmer("english")
# It keeps words of its own, which takes three times as long as to stem them.
_english.maxCacheSize = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an issue says: how often each term occurs in its title, and in its title (twice) and body together.

    `length` is the sum over `all`; `topic` is what stands before the first colon of the title, as in `net/http: …`.
    """

    title: Mapping[str, int]
    all: Mapping[str, int]
    length: int
    topic: str

    def counted(self) -> frozenset[str]:
        """The terms that this issue adds to the word statistics of its repository (see `bot/ranking/rarity.py`)."""
        return frozenset(list(dict.fromkeys((*self.title, *self.all)))[:MOST_COUNTED])


def read(title: str, body: str) -> Evidence:
    """The evidence of an issue."""
    title = subject(title[:TITLE_READ])
    in_title = Counter(terms(title))
    everything = Counter(terms(without_noise(body)))
    for term, count in in_title.items():
        everything[term] += 2 * count
    topic, colon, _ = title.partition(":")
    return Evidence(in_title, everything, everything.total(), topic.strip().lower() if colon else "")


def without_noise(body: str) -> str:
    """The part of a body that is read, without what a person does not see: comments, entities, addresses."""
    body = without_comments(body[:BODY_READ])
    if "&" in body:
        body = html.unescape(body)
    if "://" in body:
        body = _URL.sub(" ", body)
    return _ONCE.sub(" ", body)


def without_comments(body: str) -> str:
    """`body` without HTML comments, which is where templates keep their instructions, as GitHub shows it.

    One that begins a line ends at its mark, or hides the rest. Within a line it is one only if it ends in the same
    paragraph ("GitHub Flavored Markdown Spec", 4.6 and 6.10), and text as in "it stumbles over `<!--`" otherwise.
    """
    kept = []
    kept_to = looked_to = paragraph = 0
    while (start := body.find("<!--", looked_to)) >= 0:
        is_block = _BLOCK_BEGINS.search(body[max(start - 4, 0) : start]) is not None
        if start >= paragraph:
            end = _PARAGRAPH_ENDS.search(body, start)
            paragraph = end.start() if end else len(body)
        end_at = body.find("-->", start + 4, len(body) if is_block else paragraph)
        if end_at < 0 and not is_block:
            # No other of the paragraph ends either; so hostile texts are not looked through again for each.
            looked_to = paragraph
            continue
        kept.append(body[kept_to:start])
        if end_at < 0:
            return " ".join(kept)
        kept_to = looked_to = end_at + 3
    return " ".join([*kept, body[kept_to:]])


def raw_words(text: str) -> list[str]:
    """The words as written, with inner underscores: what a search engine takes for one word."""
    return _RAW.findall(apart(text))


def is_unspaced(raw: str) -> bool:
    """Whether a written word is a run of a script without spaces, of which `terms_of` gives the pairs."""
    return not raw.isascii() and len(_pairs(raw)) > 1


def _pairs(word: str) -> tuple[str, ...]:
    """The overlapping pairs of signs of a word in a script without spaces; none of any other."""
    if len(word) < 3 or not _UNSPACED.search(word):
        return ()
    return tuple(one + other for one, other in pairwise(_SIGN.findall(word)))


def _terms_of(raw: str) -> tuple[str, ...]:
    if not raw.isascii():
        raw = _WIDTHS.sub(lambda run: unicodedata.normalize("NFKC", run[0]), raw).translate(_ALIKE)
    word = raw.lower()
    if not raw.isascii() and len(pairs := _pairs(word)) > 1:
        # However long it is: where no space parts words, a sentence is one run.
        return pairs
    if word in _IGNORED or len(word) > _LONGEST_TERM:
        return ()
    if len(raw) >= _SHORTEST_DATA and _DATA.fullmatch(raw):
        code = status_code(raw)
        return (code,) if code else ()
    if not raw.isascii():
        return (word,)
    if raw.isalpha() and raw[1:].islower():
        return (_stem(word),)
    parts = _PART.findall(raw)
    if len(parts) < 2:
        return (_stem(word),)
    inner = (part.lower() for part in parts if len(part) > 1)
    return tuple(dict.fromkeys([word, *(_stem(part) for part in inner if part not in _IGNORED)]))


_remembered = lru_cache(maxsize=1 << 14)(_terms_of)


def terms_of(raw: str) -> tuple[str, ...]:
    """The terms of one written word, the word itself first; none for fillers and for data such as addresses.

    `getUserName` gives `getusernam`, `get`, `user`, `name`; where no space parts words, a run gives its overlapping
    pairs of signs.
    """
    # Whoever writes issues could have any number of long words remembered, with all their pairs of signs.
    return _remembered(raw) if len(raw) <= _LONGEST_KEPT else _terms_of(raw)


def terms(text: str) -> list[str]:
    """The terms of `text` in order."""
    return list(chain.from_iterable(map(terms_of, raw_words(text))))


def _stem(word: str) -> str:
    if len(word) > _LONGEST_WORD or not word.isalpha():
        return word
    stemmed: str = _english.stemWord(word)
    return stemmed


# What GitHub makes of a form: headings, boxes to tick, the word for an empty field, the fence of a field for logs.
# Then what templates add: a line in bold, a rule; and what says nothing without its picture.
_FORM = re.compile(
    r"#{2,6}\s|[-*+] \[[ xX]?\]|_No response_$|(?:```|~~~)\S*$|\*\*[^*]+\*\*:?$|[-*_]{3,}$"
    r"|!\[[^\]]*\]\([^)]*\)$|<img\b[^>]*>$|https?://\S+$"
)


def own_text(body: str, supplied: Collection[str] = (), between: str = " ") -> str:
    """The text on one line, or with its lines parted by what stands `between` them. `supplied` are further lines of
    forms, in small letters and with single spaces.
    """
    # Characters of every kind of white space end up as one space.
    lines = (" ".join(line.split()) for line in without_comments(body[:BODY_READ]).split("\n"))
    return between.join(line for line in lines if line and line.lower() not in supplied and not _FORM.match(line))
