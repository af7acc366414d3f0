"""Finds playbook entries that contradict each other, for `deduplication.py`, which never merges them (D5a). Pure.

Vectors hardly tell "always use tabs" from "never use tabs", or one port number from another. So this module looks for
four signs in the English words: a negation in only one of the texts, opposites, another order (before, after), and
different numbers or names in similar texts. A false contradiction does little harm: two entries stay unmerged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import snowballstemmer

_NEGATIONS, _CLAUSE_ENDS, _NUMBER_WORDS, _FILLERS = (
    line.split()
    for line in (
        "not no never avoid without stop refrain dislike dislikes hate hates skip omit neglect forget ignore",
        "but because since when while if before after by unless until",
        "zero one two three four five six seven eight nine ten eleven twelve",
        # Words that do not change the instruction: "use X" means the same as "X".
        "a an the is are be been being was were do does did done use uses used using prefer prefers preferred like "
        "likes love loves want wants to of for in at by with from and or that this it its they them their there as so "
        "you your we our i me my all any each every always must should shall will would can may might need needs have "
        "has had please make sure ensure than then also only just very",
    )
)
_OPPOSITES = """
    enable/disable allow/forbid allow/forbidden allow/prohibit
    allow/ban allow/disallow allow/deny permit/forbid include/exclude add/remove
    keep/remove keep/delete show/hide accept/reject accept/refuse increase/decrease raise/lower before/after
    minimum/maximum min/max least/most more/less more/fewer sync/async synchronous/asynchronous public/private
    require/optional mandatory/optional mutable/immutable on/off true/false first/last uppercase/lowercase left/right
    short/long brief/detailed tab/space single/double open/close lock/unlock start/end light/dark
    strict/lenient static/dynamic local/remote online/offline absolute/relative ascending/descending internal/external
    early/late explicit/implicit manual/automatic manually/automatically lazy/eager small/large small/big high/low
    fast/slow singular/plural
"""
# How many characters of a text `stance` reads.
_MOST = 10_000
_PREFIXES = ("un", "in", "im", "dis", "non", "de")

# Turn phrases into a plain "not" or a word of `_OPPOSITES`, and drop negations that deny nothing.
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"n['’]t\b", " not"),
        (r"\bcannot\b", "can not"),
        (r"\b(upper|lower) case\b", r"\1case"),
        (r"\b(?:not|no) (?:only|just|longer than|matter)\b", " "),
        # "Is not null" describes a state; it does not deny an instruction.
        (r"\bnot (?=(?:null|none|nil|empty|zero)\b)", ""),
        (r"\b(?:instead of|rather than|better than|as opposed to)\b", " not "),
        # "Prefer X over Y" becomes "prefer X not Y".
        (r"\b((?:prefer|favou?r|choose)\w*)((?: [^\s,.;]{1,60}){1,9}?) (?:over|to(?! be\b))\b", r"\1\2 not "),
        # "Never X without Y" asks for Y: drop both negations.
        (r"\b(?:not|never|no)\b([^,;]{0,200}?)\b(?:without|unless|until)\b", r"\1"),
    )
)
# `_TOKEN` matches a word, `node.js`, `c++` or a punctuation mark. `_NAME` matches the signs of a name from code.
_TOKEN = re.compile(r"[^\W_](?:[\w.+#/@]*\w)?[+#]*|[,;:.!?()]")
_NAME = re.compile(r"\w[A-Z]|[._/@#+]|`")


@dataclass(frozen=True, slots=True)
class Stance:
    """The stems that a text asserts or denies. The first of two opposites stands for both: "disable X" denies "enable".

    `negated` are the stems after a negation. "Never disable X" asserts "enable", but "enable" is also `negated`. The
    stems include `names`, but not `numbers`. `order` pairs each "before" or "after" with the next stem.
    """

    asserted: frozenset[str]
    denied: frozenset[str]
    negated: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    order: frozenset[tuple[str, str]]

    @property
    def words(self) -> frozenset[str]:
        return self.asserted | self.denied

    def contradicts(self, other: Stance) -> bool:
        """Whether the two texts ask for things that exclude each other."""
        return self._denies(other) or self._differs(other) or self._turns_round(other)

    def _denies(self, other: Stance) -> bool:
        """Whether more stems are `flipped` than `agreed`, and the texts share enough stems.

        A stem is flipped if one text asserts it and the other denies it. A stem with a prefix, such as "unsafe",
        is also flipped if one text asserts this stem and the other asserts "safe". Any other shared stem is agreed if
        the stem is `negated` in either text: "never disable X" and "enable X" agree on "enable". Shared
        and flipped stems together must be at least half as many as the shorter text's stems.
        """
        shared = self.words & other.words
        flipped = (self.asserted & other.denied) | (self.denied & other.asserted)
        # Ignore a stem that one of the texts both asserts and denies, as in "tabs and spaces".
        flipped -= (self.asserted & self.denied) | (other.asserted & other.denied)
        flipped |= {
            word for word in self.asserted ^ other.asserted if _is_prefixed(word, self.asserted, other.asserted)
        }
        agreed = (shared & (self.negated | other.negated)) - flipped
        fewest = min(len(self.words), len(other.words))
        return len(flipped) > len(agreed) and 2 * len(shared | flipped) >= fewest

    def _differs(self, other: Stance) -> bool:
        """Whether the texts share 60 % of their stems but have different numbers, or differ only in names."""
        shared = self.words & other.words
        if not shared:
            return False
        if self.numbers - other.numbers and other.numbers - self.numbers:
            return 5 * len(shared) >= 3 * max(len(self.words), len(other.words))
        apart = self.names - other.names, other.names - self.names
        return (
            all(apart)
            and self.words - self.names == other.words - other.names
            # "Postgres" is short for "PostgreSQL".
            and not any(one.startswith(two) or two.startswith(one) for one, two in product(*apart))
        )

    def _turns_round(self, other: Stance) -> bool:
        """Whether one text says "A before B", and the other "B before A"."""
        return any(
            link == other_link and mine != theirs and mine in other.words and theirs in self.words
            for (link, mine), (other_link, theirs) in product(self.order, other.order)
        )


def stance(text: str) -> Stance:
    """Read a text's stance; of a long text, only the beginning counts."""
    # `sides[True]` has the asserted stems, `sides[False]` the denied stems.
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    negated, numbers, names = set(), set(), set()
    order: set[tuple[str, str]] = set()
    link = ""
    stem_of, opposites = snowballstemmer.stemmer("english").stemWord, _opposites()
    text = text[:_MOST].replace("-", " ")
    # Names are recognised by their spelling, so look for them before lowering the case.
    name_like = {token.lower() for token in _TOKEN.findall(text) if _NAME.search(token)} | {
        token.lower() for token in re.findall(r"(?<=[\w,] )[A-Z][\w.]+|(?<=`)[\w.]+(?=`)", text)
    }
    text = text.lower()
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    tokens = _TOKEN.findall(text)
    affirmed = True
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        # A negation ends with its clause.
        if not token[0].isalnum() or token in _CLAUSE_ENDS:
            affirmed = True
        if token in _NEGATIONS:
            affirmed = not affirmed
        elif any(char.isdigit() for char in token):
            numbers.add(token.removeprefix("v"))
        elif token in _NUMBER_WORDS and following[:1].isalpha():
            numbers.add(str(_NUMBER_WORDS.index(token)))
        elif token[0].isalnum() and token not in _FILLERS:
            stem = stem_of(token)
            first, means_first = opposites.get(stem, (stem, True))
            # To deny the second of two opposites is to assert the first.
            asserts_first = affirmed if means_first else not affirmed
            sides[asserts_first].add(first)
            if first == stem and token in name_like:
                names.add(first)
            if not affirmed:
                negated.add(first)
            if token in ("before", "after"):
                link = token
            elif link:
                order.add((link, first))
                link = ""
    return Stance(
        frozenset(sides[True]),
        frozenset(sides[False]),
        frozenset(negated),
        frozenset(numbers),
        frozenset(names),
        frozenset(order),
    )


def contradictions(stances: Sequence[Stance]) -> Iterator[tuple[int, int]]:
    """The pairs of positions whose texts contradict each other, the lower position first."""
    alike: dict[Stance, list[int]] = defaultdict(list)
    for position, one in enumerate(stances):
        alike[one].append(position)
    for one, other in combinations(alike, 2):
        if one.contradicts(other):
            for pair in product(alike[one], alike[other]):
                yield min(pair), max(pair)


def _is_prefixed(word: str, one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one text has `word`, with a prefix such as "un-", and the other text has it without the prefix."""
    without_word = other if word in one else one
    return any(word.startswith(prefix) and word[len(prefix) :] in without_word for prefix in _PREFIXES)


@cache
def _opposites() -> dict[str, tuple[str, bool]]:
    """For stems of `_OPPOSITES`: the stem that stands for it, and whether it means the same (True) or the opposite."""
    stem_of = snowballstemmer.stemmer("english").stemWord
    table: dict[str, tuple[str, bool]] = {}
    for pair in _OPPOSITES.split():
        left, right = map(stem_of, pair.split("/"))
        if right in table:
            # Put the known stem left. "Optional" is known as the opposite of "require", so "mandatory" means "require".
            left, right = right, left
        first, means_first = table.setdefault(left, (left, True))
        table.setdefault(right, (first, not means_first))
    return table
