"""What a word is, in any script, and which words say nothing.

The word class of Python's `re` leaves out combining marks, which would cut Hindi or Thai words into pieces; the
ranges below give them back. One compiled expression without nesting serves every caller, so the time spent is
linear in the length of the text, whatever a stranger wrote.

A letter can be written as one sign or as several, `が` and `か` with its mark; macOS does the latter in the names of
files, which people paste. Words are made of the former, whichever was written.

Most texts are ASCII, and those are cut faster by a table of what separates than by an expression of what does not.
"""

from __future__ import annotations

import re
import unicodedata

_COMMON = """
the a an is are to for in on of and or with from by as at this that it be not do have will can should would add new use
t s d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn
"""
#: Words too common to search by, compared without case. The second line is what remains of contractions once
#: the apostrophe has separated them (`doesn't` → `doesn`, `t`).
STOP_WORDS = frozenset(_COMMON.split())

#: Combining marks of the scripts in wide use, and the joiners that Persian and Indic spelling needs inside a word.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0816-\u082d\u0859-\u085b"
    "\u08d3-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09e3\u0a01-\u0a51\u0a70-\u0a75"
    "\u0a81-\u0acd\u0ae2\u0ae3\u0b01-\u0b63\u0b82-\u0bcd\u0c00-\u0c63\u0c81-\u0ce3\u0d00-\u0d63\u0d82-\u0ddf"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u0f90-\u0fbc\u102b-\u103e"
    "\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
)
#: Letters and marks of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean,
#: whose words end in particles.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
# Marks that become one sign with the letter before them, and the parts of a Korean syllable. To normalise a whole text
# would take a time that is quadratic in the marks on one letter, of which a stranger can write any number.
_JOINED = "\u0300-\u036f\u0653-\u0655\u3099\u309a"
_ANY_PART = re.compile(f"[{_JOINED}\u1161-\u1175]")
_PARTS = re.compile(rf"[^\W_][{_JOINED}]{{1,8}}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
_BORDER = re.compile(rf"(?<=[{UNSPACED}])(?![{UNSPACED}])(?=\w)|(?<=\w)(?<![{UNSPACED}])(?=[{UNSPACED}])")
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}]|[\u200c\u200d](?=[^\W_]))*")


# For `str.translate`: every ASCII sign to a space but letters and digits.
_SEPARATED = {code: " " for code in range(128) if not chr(code).isalnum()}


def split_words(text: str) -> list[str]:
    """The words of `text` in order, their case kept: runs of letters, digits and marks; all else separates."""
    return text.translate(_SEPARATED).split() if text.isascii() else _WORD.findall(_composed(text))


def apart(text: str) -> str:
    """`text` with a space wherever a script without spaces meets another one, as in `点击getUserName按钮`."""
    return text if text.isascii() else _BORDER.sub(" ", _composed(text))


def _composed(text: str) -> str:
    """`text` with one sign for each letter where there is one (NFC)."""
    if not _ANY_PART.search(text):
        return text
    return _PARTS.sub(lambda parts: unicodedata.normalize("NFC", parts[0]), text)


# Words that join others in languages besides English. In a repository that is mostly English a German "nach" or a
# Chinese 的 is as rare as the name of a function, and would be named as what two issues share. Only what is shown to
# people is told apart so; what is likely is learned. Words that mean something in English or in computing ("die",
# "sans", "del") are left out.
_WORDS = """
aber auch auf aus bei beim bitte dann dass das dem der diese dieser dieses durch ein eine einem einen einer eines
für gibt hier ich ist jetzt kann kein keine mehr mich mir nach nicht noch nur oder schon sehr sich sie sind und
vom von werden wenn wie wird wir wurde zum zur über
après aussi aux avant avec cette ces comme dans depuis elle être fait ils les leur lorsque mais nous pas pour quand qui
sont toujours très une vous où à été
como cuando desde después está esta este estos las los más muy para pero por que sobre también todo todos una
ao depois isso já mas muito não nos quando são sem também tudo uma é
alla anche che dal dei della dopo gli molto nel non perché più questa questo senza sono sul tutto
deze dit een het maar naar niet nog ook voor wanneer wordt worden zijn
без был было быть вы для до если есть за из или как когда к мне мой мы на не но он она они от по после при с также
только у уже что это я в и
"""
_FUNCTION_WORDS = frozenset(_WORDS.split())

# Of scripts without spaces the terms are pairs of signs. Chinese particles and pronouns stand in pairs with whatever is
# beside them; Japanese particles and endings are written in hiragana, and stand before and after katakana.
_JOINING = re.compile(
    "[的了是在和我你他她它这這那就也都吗嗎呢吧着著]|[\u3041-\u309f][\u3041-\u30ff]|[\u30a1-\u30ff][\u3041-\u309f]"
)


def is_function_word(word: str) -> bool:
    """Whether a word, or a pair of signs, only joins others; without regard to case."""
    return word.casefold() in _FUNCTION_WORDS or (len(word) == 2 and _JOINING.search(word) is not None)
