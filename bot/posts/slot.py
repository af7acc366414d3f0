"""Where a comment of the bot's own belongs, and what it shall say there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.model import RepoRef
from bot.store import ADVISORY


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one comment: an issue, and the comment whose commands it answers (ADVISORY: none).

    `is_marked` recognises the body of a comment that belongs here. Where `since` is known none was written before it,
    and none is looked for: an issue can have 2,500 comments.
    """

    repo_id: int
    repo: RepoRef
    number: int
    is_marked: Callable[[str], bool]
    command_id: int = ADVISORY
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What the comment shall say.

    `body_hash` tells whether an edit would change anything; it leaves out what may differ without a reason to edit.
    `text_hash` is of the text that this answers, `shown` the candidates in it.
    """

    body: str
    body_hash: str
    text_hash: str
    shown: Sequence[int] = ()
