"""Words that join others in languages besides English: no reason to call two issues alike, however rare they are.

In a repository that is mostly English a German "nach" or a Chinese 的 is as rare as the name of a function, and would
be named as what two issues share. Only what is shown to people is told apart so; what is likely is learned. Words that
mean something in English or in computing ("die", "sans", "del") are left out.
"""

from __future__ import annotations

import re

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
