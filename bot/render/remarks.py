"""What went wrong while the sources were asked, in the language of the comment."""

from __future__ import annotations

from bot.remarks import Remark, Told
from bot.render.escape import escape
from bot.words import Words


def remark_words(told: Told, say: Words) -> str:
    """A remark in the comment's language, as Markdown; what others said as it came."""
    match told.remark, told.values:
        case Remark.NOT_FOUND, (int(count),):
            return say.remark_not_found(count=count)
        case Remark.LEFT, (int(count),):
            return say.remark_left(count=count)
        case Remark.NOT_FOUND_AND_LEFT, (int(missing), int(left)):
            return say.comma().join([say.remark_not_found(count=missing), say.remark_left(count=left)])
        case Remark.BY_WORDS, (str(reasons),):
            return say.remark_by_words(reasons=escape(reasons))
        case Remark.UNREAD, _:
            return say.remark_unread()
        case Remark.HIDDEN, _:
            return say.remark_hidden()
        case Remark.LEFT_OUT, (int(missing), int(named)):
            return say.remark_left_out(missing=missing, named=named)
        case Remark.NO_PERMISSION, _:
            return say.remark_no_permission()
        case Remark.EMPTY, _:
            return say.remark_empty()
        case Remark.SEARCH_LIMIT, _:
            return say.remark_search_limit()
        case Remark.HYBRID_LIMIT, _:
            return say.remark_hybrid_limit()
        case Remark.TOO_LATE, (int(seconds),):
            return say.remark_too_late(count=seconds)
        case Remark.FAILED, _:
            return say.remark_failed()
        case _:
            return escape(str(told))
