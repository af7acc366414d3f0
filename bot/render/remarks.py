"""What went wrong while the sources were asked, in the language of the comment."""

from __future__ import annotations

from bot.remarks import Remark, recognise
from bot.render.escape import escape
from bot.words import Words


def remark_words(sentence: str, say: Words) -> str:
    """A sentence of the bot's own in the comment's language, as Markdown; others' as they came."""
    remark, values = recognise(sentence)
    match remark:
        case Remark.NOT_FOUND:
            return say.remark_not_found(count=int(values[0]))
        case Remark.LEFT:
            return say.remark_left(count=int(values[0]))
        case Remark.NOT_FOUND_AND_LEFT:
            missing, left = map(int, values)
            return say.comma().join([say.remark_not_found(count=missing), say.remark_left(count=left)])
        case Remark.BY_WORDS:
            return say.remark_by_words(reasons=escape(values[0]))
        case Remark.UNREAD:
            return say.remark_unread()
        case Remark.HIDDEN:
            return say.remark_hidden()
        case Remark.LEFT_OUT:
            missing, named = map(int, values)
            return say.remark_left_out(missing=missing, named=named)
        case Remark.NO_PERMISSION:
            return say.remark_no_permission()
        case Remark.EMPTY:
            return say.remark_empty()
        case Remark.SEARCH_LIMIT:
            return say.remark_search_limit()
        case Remark.HYBRID_LIMIT:
            return say.remark_hybrid_limit()
        case Remark.TOO_LATE:
            return say.remark_too_late(count=int(values[0]))
        case Remark.FAILED:
            return say.remark_failed()
        case None:
            return escape(sentence)
