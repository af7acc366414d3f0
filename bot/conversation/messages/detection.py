"""Detects in which of the bot's languages an issue is written, by its script and its function words. Pure.

An answer in a wrong language annoys more than an answer in English, so a text that is short, mixed or in a language
that the bot does not speak counts as English. On `tests/words/texts.py`, py3langid is right as often as this module,
but needs 120 MB of memory and a second at the start of every worker; langdetect takes short Chinese for Korean;
lingua's wheel has 96 MB.
"""

from __future__ import annotations

import re

from bot.conversation.messages.catalogue import LANGUAGES
from bot.text.terms import without_noise
from bot.text.words import UNSPACED, separate_scripts

FALLBACK = "en"

# Only this many characters of an issue are read.
_READ_MAX = 8_000
# Headings, check boxes, and GitHub's text for an empty field.
_BOILERPLATE = re.compile(r"^ {0,3}#{1,6}\s.*$|^[^\S\n]*[-*] \[[ xX]\].*$|^_No response_[^\S\n]*$", re.MULTILINE)
# Fenced code, up to the closing fence or the end.
_FENCED = re.compile(r"^ {0,3}(```(?=`*[^`\n]*$)|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
# Indented code and log lines, and text between backticks or angle brackets.
_CODE = re.compile(r"^(?: {4}|\t).*$|`[^`\n]*`|<[^>\n]{0,200}>", re.MULTILINE)
# Part of an address, path or code name. Scripts without spaces are exempt: no space follows a sentence's `.` there.
_NOT_PROSE = re.compile(rf"\S://\S|(?![{UNSPACED}])\w[./\\_@=](?![{UNSPACED}])\w")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_CJK_PER_WORD = 2  # this many characters, Han or kana, count as one word in Latin letters
_CJK_MIN = 4
# With a lower share of kana, a text counts as Chinese. Every Japanese test text has .6 or more.
_KANA_MIN = 0.08

# Words that occur in nearly every text of a language. The German, French and Spanish lists lack words that are frequent
# in English too, such as "die" and "no". Languages that the bot does not speak are listed too: otherwise Portuguese
# would count as Spanish.
_FUNCTION_WORDS = {
    "en": "the and is are it to of this that with when not for be was have has does doesn't there but you my can if i "
    "from which should would",
    "de": "der das und ist nicht ich ein eine einen einem einer mit wenn auf für es sich auch wird werden bei beim dem "
    "den des zu kann keine kein nach von noch aber oder nur wie sind nichts lässt seit",
    "fr": "le la les et est une un des du de dans que qui pas je ne avec pour sur il elle cela ce cette quand mais ou "
    "sont au aux par plus n'est c'est n'y j'ai qu'il lors dès depuis l'application mon",
    "es": "el la los las y es una un de del que en con se por para cuando pero al lo está esta este hay como más muy "
    "nada ya mi puede desde sin también",
    "pt": "o os as e é uma um de do da dos das que em com se por para quando mas ao não há está isso eu como mais "
    "muito já na nas nos pelo pela ele ela",
    "it": "il lo la gli le e è una un di del della che in con si per quando ma non c'è questo questa sono come più "
    "anche al nel nella dei delle",
    "nl": "de het een en is niet ik met als op van dat dit voor er ook wordt worden bij zodra geen naar maar wel zijn "
    "kan nog aan",
    "ca": "el la els les i és una un de del que en amb es per quan però al hi ha com més molt aquest aquesta",
    "da": "og er ikke jeg et en den det med når på af til som for der kan men har ved ingen skjer sker",
    "sv": "och är inte jag ett en den det med när på av till som för kan men har vid ingen att",
}
_WORD_SETS = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}
_SPOKEN = tuple(language for language in LANGUAGES if language in _WORD_SETS and language != FALLBACK)
# At least _WORDS_MIN words, and _SHARE_MIN of all words in Latin letters, must be the best language's function words.
_WORDS_MIN, _SHARE_MIN = 3, 0.15
# Their count must be over _LEAD_OVER_ENGLISH × English's, and at least _LEAD_OVER_OTHERS × any other language's.
_LEAD_OVER_ENGLISH, _LEAD_OVER_OTHERS = 2.0, 1.2


def language_of(title: str, body: str) -> str:
    """The language in which to answer an issue: `en`, `zh`, `ja`, `es`, `de` or `fr`. Code does not count."""
    unfenced = _FENCED.sub("", f"{title}\n\n{body}"[:_READ_MAX])
    text = _CODE.sub(" ", without_noise(_BOILERPLATE.sub("", unfenced)))
    # Separate scripts first. Otherwise a name from code would make the Chinese sentence around it count as code.
    prose = " ".join(run for run in separate_scripts(text).split() if not _NOT_PROSE.search(run))
    words = [word.lower().replace("’", "'") for word in _WORD.findall(prose)]
    kana, han = len(_KANA.findall(prose)), len(_HAN.findall(prose))
    latin = [word for word in words if word[0] < "\u0250"]  # Latin Extended-B ends here.
    if kana + han >= max(_CJK_MIN, _CJK_PER_WORD * len(latin)):
        return "ja" if kana >= _KANA_MIN * (kana + han) else "zh"
    if len(latin) < len(words) / 2:
        return FALLBACK
    counts = {language: sum(word in known for word in latin) for language, known in _WORD_SETS.items()}
    best = max(_SPOKEN, key=counts.__getitem__)
    rival = max(count for language, count in counts.items() if language not in (best, FALLBACK))
    sure = (
        counts[best] >= _WORDS_MIN
        and counts[best] >= _SHARE_MIN * len(latin)
        and counts[best] > _LEAD_OVER_ENGLISH * counts[FALLBACK]
        and counts[best] >= _LEAD_OVER_OTHERS * rival
    )
    return best if sure else FALLBACK
