"""Splits text of any script into words, and recognises words that say nothing. The base of `bot/text`.

Python's class of word characters leaves out combining marks, so this class would cut Hindi or Thai words into pieces.
The ranges below add the marks. No expression nests repetitions, so each takes linear time even on hostile text.

A letter can be one character, such as `が`, or several: `か` and a mark. macOS uses the second form in file names, and
people paste such names. `split_words` joins each letter into one character, so both forms give the same words.
"""

from __future__ import annotations

import re
import unicodedata

_STOP_WORD_LIST = """
the a an is are to for in on of and or with from by as at this that it be not do have will can should would add new use
t s d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn
"""
#: Words that are too common for a search, in lower case. The second line has the parts of contractions, which the
#: apostrophe separates (`doesn't` → `doesn`, `t`).
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())

#: Combining marks of the scripts in wide use.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0816-\u082d\u0859-\u085b"
    "\u08d3-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09e3\u0a01-\u0a51\u0a70-\u0a75"
    "\u0a81-\u0acd\u0ae2\u0ae3\u0b01-\u0b63\u0b82-\u0bcd\u0c00-\u0c63\u0c81-\u0ce3\u0d00-\u0d63\u0d82-\u0ddf"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u0f90-\u0fbc\u102b-\u103e"
    "\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
)
#: Letters and marks of scripts without spaces between words (Thai, Lao, Burmese, Khmer, Japanese,
#: Chinese), and of Korean, which attaches particles to words.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
# Marks that form one character with the letter before them. `_ANY_PART` and `_PARTS` also match the parts of a Korean
# syllable. `_PARTS` limits the marks on one letter: normalising takes time quadratic in their number, and a stranger
# can write any number of them.
_JOINED = "\u0300-\u036f\u0653-\u0655\u3099\u309a"
_ANY_PART = re.compile(f"[{_JOINED}\u1161-\u1175]")
_PARTS = re.compile(rf"[^\W_][{_JOINED}]{{1,8}}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
# The place between a character of UNSPACED and a character of any other script, in either order.
_BORDER = re.compile(rf"(?<=[{UNSPACED}])(?![{UNSPACED}])(?=\w)|(?<=\w)(?<![{UNSPACED}])(?=[{UNSPACED}])")
# A letter or digit, then letters, digits, marks, and the joiners that Persian and Indic spelling needs inside a word.
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}]|[\u200c\u200d](?=[^\W_]))*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")


def split_words(text: str) -> list[str]:
    """The words of `text` in order, with their case: runs of letters, digits and marks."""
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(_composed(text))


def separate_scripts(text: str) -> str:
    """`text` with a space wherever a script without spaces meets another script, as in `点击getUserName按钮`."""
    return text if text.isascii() else _BORDER.sub(" ", _composed(text))


def _composed(text: str) -> str:
    """`text` with each letter as one character, if Unicode has such a character (NFC)."""
    if not _ANY_PART.search(text):
        return text
    return _PARTS.sub(lambda parts: unicodedata.normalize("NFC", parts[0]), text)


# Function words of languages other than English. In a mostly English repository, a German "nach" or a Chinese 的 is as
# rare as an identifier, so comments would call it a reason for a match. Only reasons leave these
# words out. The list omits most words that mean something in English or computing ("die", "sans", "del").
_FUNCTION_WORD_LIST = """
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
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())

# In scripts without spaces, terms are pairs of characters. Reasons leave out pairs with a Chinese particle or pronoun,
# and pairs of kana with at least one hiragana, since Japanese particles and endings are written in hiragana.
_JOINING = re.compile(
    "[的了是在和我你他她它这這那就也都吗嗎呢吧着著]|[\u3041-\u309f][\u3041-\u30ff]|[\u30a1-\u30ff][\u3041-\u309f]"
)


def is_function_word(word: str) -> bool:
    """Whether a word, or a pair of characters, only joins others; case does not matter."""
    return word.casefold() in _FUNCTION_WORDS or (len(word) == 2 and _JOINING.search(word) is not None)
