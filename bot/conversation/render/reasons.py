"""Why a candidate was picked, and what went wrong while sources were asked, in the language of the comment."""

from __future__ import annotations

from collections.abc import Sequence

from bot.conversation.render.escape import escape
from bot.conversation.words import Words
from bot.conversation.words.texts import COUNT
from bot.domain.errors import Remark, Told
from bot.domain.report import Candidate, Reason, Shared

REASONS_MAX = 5
_VECTORS = "vectors"


def reason_words(candidate: Candidate, say: Words) -> list[str]:
    """The strongest reasons; where there are no words to name, that the semantic index found it, if it did."""
    return reasons_in(candidate.reasons, say) or ([say.by_meaning()] if _VECTORS in candidate.sources else [])


def strongest(reasons: Sequence[Reason]) -> Sequence[Reason]:
    """The one reason to tell: the first, but titles that have several words in common rather than a lone name (C3).

    What GitHub says of likelihood is told beside it (F8a), and what speaks against it.
    """
    beside = [reason for reason in reasons if reason.shared in (Shared.GITHUB, Shared.SURFACE)]
    own = [reason for reason in reasons if reason not in beside]
    if own and own[0].shared is Shared.IDENTIFIERS and len(own[0].quoted) == 1:
        own = [one for one in own if one.shared is Shared.TITLES and len(one.quoted) > 1][:1] or own
    return [*own[:1], *beside]


def reasons_in(reasons: Sequence[Reason], say: Words) -> list[str]:
    """The reasons as Markdown; one whose quotes show nothing is left out."""
    return [said for said in (_said(reason, list(map(escape, reason.quoted)), say) for reason in reasons) if said][
        :REASONS_MAX
    ]


def _said(reason: Reason, quoted: Sequence[str], say: Words) -> str:
    quote = ", ".join(quoted)
    match reason.shared:
        case Shared.COPY:
            return say.reason_copy()
        case Shared.GITHUB:
            return say.reason_github()
        case Shared.SURFACE:
            mine, theirs = quoted
            return say.reason_surface(mine=mine, theirs=theirs)
        case _ if not quote:
            return ""
        case Shared.CAUSE:
            return say.reason_cause(cause=quote)
        case Shared.MESSAGE:
            return say.reason_message(message=quote)
        case Shared.IDENTIFIERS:
            return say.reason_identifiers(names=quote)
        case Shared.TITLES:
            return say.reason_titles(words=quote)
        case Shared.WORDS:
            return say.reason_words(words=quote)


def remark_words(told: Told, say: Words) -> str:
    """A remark in the comment's language, as Markdown; what others said as it came."""
    match told.remark, told.values:
        case Remark.NOT_FOUND_AND_LEFT, (int(missing), int(left)):
            return say.comma().join([say.remark_not_found(count=missing), say.remark_left(count=left)])
        case Remark.BY_WORDS, (str(reasons),):
            return say.remark_by_words(reasons=escape(reasons))
        case Remark.LEFT_OUT, (int(missing), int(named)):
            return say.remark_left_out(missing=missing, named=named)
        case Remark.OTHERS, _:
            return escape(str(told))
        case remark, () | (int(),) as counts:
            return say.fill(f"remark_{remark.name.lower()}", dict(zip((COUNT,), counts, strict=False)))
        case _:
            return escape(str(told))
