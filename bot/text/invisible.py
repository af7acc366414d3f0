"""Characters that nobody sees: which of them a text is not written without."""

from __future__ import annotations

import re
import unicodedata

# Unicode's property Default_Ignorable_Code_Point, as of version 16.
_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINER, _NON_JOINER = "\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}"
JOINERS = _JOINER + _NON_JOINER
_AS_EMOJI = "\N{VARIATION SELECTOR-16}"
_MONGOLIAN_FORMS = "\u180b\u180c\u180d\u180e\u180f"
_VIRAMA = 9
_DIGITS, _KEYCAP = "0123456789#*", "\N{COMBINING ENCLOSING KEYCAP}"


def is_ignorable(char: str) -> bool:
    """Whether Unicode lets it be ignored where it cannot be shown."""
    return _IGNORABLE.match(char) is not None


def without_invisible(text: str) -> str:
    """`text` without what Unicode lets be ignored, but for that by which a script or an emoji looks as it should.

    Those are joiners in Arabic, the Indian scripts and emoji, the selectors of Mongolian letters, and the selector of
    an emoji. One that changes nothing there, or follows another, says nothing to people, and goes.
    """
    if not _IGNORABLE.search(text):
        return text
    kept: list[str] = []
    for at, char in enumerate(text):
        if not is_ignorable(char) or _shapes(char, "".join(kept[-2:]), text[at + 1 : at + 3]):
            kept.append(char)
    return "".join(kept)


def _shapes(char: str, before: str, behind: str) -> bool:
    """Whether it changes how the two characters before it, or those behind it, are seen."""
    last, following = before[-1:], behind[:1]
    if char == _AS_EMOJI:
        return _is_emoji(last) or (last != "" and last in _DIGITS and following == _KEYCAP)
    if char in _MONGOLIAN_FORMS:
        return "\u1820" <= last <= "\u18aa"
    if char not in JOINERS or not last:
        return False
    if _is_virama(last) or (_is_virama(following) and _is_letter(last)):
        return True
    # The sign or the letter, without what is written onto it.
    base = before[:1] if last == _AS_EMOJI or unicodedata.combining(last) else last
    if char == _NON_JOINER:
        return _is_joined(base) and _is_joined(following)
    # Between two letters that are joined anyhow it does nothing, and a run of such signs no more than its last.
    if is_ignorable(following):
        return False
    return (_is_emoji(base) and _is_emoji(following)) or _is_joined(base) != _is_joined(following)


def _is_emoji(char: str) -> bool:
    """Or another sign like one: which signs are emoji changes with each version of Unicode."""
    if char in "‼⁉〰ℹ":
        return char != ""
    category = unicodedata.category(char)
    return category == "So" or (category in ("Sm", "Sk") and char >= "\u2190")


def _is_virama(char: str) -> bool:
    return char != "" and unicodedata.combining(char) == _VIRAMA


def _is_letter(char: str) -> bool:
    return unicodedata.category(char) == "Lo"


def _is_joined(char: str) -> bool:
    """Whether it is a letter of Arabic or of another script whose letters take their form from their neighbours."""
    return char != "" and unicodedata.bidirectional(char) == "AL"
