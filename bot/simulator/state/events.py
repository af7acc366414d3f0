"""What the world tells of itself when something happens in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.simulator.state.accounts import Account, Installation
from bot.simulator.state.repositories import Repository


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, by the name and action that GitHub's webhooks give it.

    It concerns a repository, or `installations`, or both. `parts` holds what is particular to this kind of event:
    records, by the names that they have in a payload.
    """

    name: str
    action: str | None
    sender: Account
    repository: Repository | None
    installations: Sequence[Installation]
    parts: Mapping[str, Any]
