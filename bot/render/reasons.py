"""Why a candidate was picked, in the language of the comment."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ranking.reasons import Shared, recognise
from bot.render.escape import escape
from bot.report import Candidate
from bot.words import Words

REASONS_MAX = 5
_VECTORS = "vectors"


def reason_words(candidate: Candidate, say: Words) -> list[str]:
    """The strongest reasons; where there are no words to name, that the semantic index found it, if it did."""
    return reasons_in(candidate.reasons, say) or ([say.by_meaning()] if _VECTORS in candidate.sources else [])


def strongest(reasons: Sequence[str]) -> Sequence[str]:
    """The one reason to tell: the first, but titles that have several words in common rather than a lone name (C3).

    What GitHub says of likelihood is told beside it (F8a).
    """
    github = [reason for reason in reasons if recognise(reason)[0] is Shared.GITHUB]
    own = [reason for reason in reasons if reason not in github]
    recognised = [recognise(reason) for reason in own]
    if recognised and recognised[0][0] is Shared.IDENTIFIERS and "," not in recognised[0][1]:
        titles = (at for at, (shared, quote) in enumerate(recognised) if shared is Shared.TITLES and "," in quote)
        own = [own[at] for at in titles][:1] or own
    return [*own[:1], *github[:1]]


def reasons_in(reasons: Sequence[str], say: Words) -> list[str]:
    """Reports keep reasons as English sentences, of which only the quotes are strangers' text; any others stay."""
    said = []
    for reason in reasons[:REASONS_MAX]:
        shared, quote = recognise(reason)
        if shared in (Shared.COPY, Shared.GITHUB):
            said.append(say.reason_copy() if shared is Shared.COPY else say.reason_github())
            continue
        quote = escape(quote)
        if not quote:
            continue
        match shared:
            case Shared.MESSAGE:
                said.append(say.reason_message(message=quote))
            case Shared.IDENTIFIERS:
                said.append(say.reason_identifiers(names=quote))
            case Shared.TITLES:
                said.append(say.reason_titles(words=quote))
            case Shared.WORDS:
                said.append(say.reason_words(words=quote))
            case None:
                said.append(quote)
    return said
