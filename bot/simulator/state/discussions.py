"""Discussions, with the fields that a search shows. A repository numbers its issues and discussions in one sequence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.simulator.state.accounts import Account
from bot.simulator.state.repositories import Repository

DiscussionReason = Literal["resolved", "outdated", "duplicate"]


@dataclass(slots=True, eq=False)
class Discussion:
    """A discussion without its comments."""

    id: int
    node_id: str
    repository: Repository
    number: int
    author: Account
    title: str
    body: str
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    state_reason: DiscussionReason | None = None
    answered: bool = False
