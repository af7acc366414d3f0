"""What a title is about, without what says only of which kind its issue is, as "[Bug]: " does and "🐛". Pure.

Many forms begin titles so, and many people do by themselves. It would count as a word that two titles share or do not
share, and as the topic that stands before a colon.
"""

from __future__ import annotations

import re

from bot.text.full_width import plain
from bot.text.words import split_words

_KIND = r"(?:bug(?:[ -]?report)?|issue|feat(?:ure)?|feature[ -]?request|enhancement|question)"
# Spaces, emoji, and marks that nobody sees, which come along with what is pasted.
_DECORATION = r"[\s\u200b-\u200f\u2060-\u2069\ufeff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
# In brackets or asterisks, or before a colon or a dash, since "Bug in the pump" is a sentence.
_BEFORE = re.compile(
    rf"\A{_DECORATION}*(?:[*\[(【:]{{0,4}}{_KIND}(?:\*{{0,2}}[\])】:]|\s[-–—|]\s)[*\])】:]*(?:\s*[-–—|:]\s)?\s*)?",
    re.IGNORECASE,
)

# What a form has in place of a title: a bracket that asks for one.
_ASKS = r"(?:replace|insert|enter|write|fill|describe|add|put|please|your|a|an|the|short|brief|concise)"
_UNFILLED = re.compile(rf"\A\s*(?:[\w./-]+:)?\s*[\[<({{]\s*{_ASKS}\s[^\])>}}]*[\])>}}]\s*\Z", re.IGNORECASE)

# What a title can consist of without saying what its issue is about (P3).
_GENERIC_WORDS = """
a an the this that my our your it its is are was in on at of for with to from and or not no when while after i we you
app application assertion big broken bug bugs crash crashed crashes crashing error errors exception exceptions fail
failed failing fails failure fatal fix generic got happened help internal issue issues found new occurred occurs please
plz problem problems program question questions random report reported reports request runtime serious session software
something strange sudden suddenly tool traceback trouble unexpected uncaught unhandled unknown untitled urgent weird
work working works wrong
absturz fehler probleme erreur plantage problème bogue erro falha fallo problema problemas ошибка сбой 错误 崩溃 エラー
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())


def says_nothing(title: str) -> bool:
    """Whether a title could stand above any issue, as "Bug", "[Bug]: " and "Unhandled error in session" (P3)."""
    return all(word in _GENERIC or word.isdigit() for word in split_words(subject(title).lower()))


def is_unfilled(title: str) -> bool:
    """Whether a title is the form's own still, as "tour: [short description of the issue]" is."""
    return bool(_UNFILLED.match(subject(title)))


def subject(title: str) -> str:
    """`title` in ASCII's own characters, without the kind of issue that it begins with and what decorates it.

    One that says nothing else keeps it.
    """
    title = title if title.isascii() else plain(title)
    return _BEFORE.sub("", title) or title
