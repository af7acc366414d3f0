"""The events that the simulator's `World` emits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.simulator.state.accounts import Account, Installation
from bot.simulator.state.repositories import Repository


@dataclass(frozen=True, slots=True)
class Event:
    """An event, with the name and action of GitHub's webhooks.

    The event concerns a repository, or `installations`, or both. `parts` has the name and value of
    each field that this kind of event adds to the payload.
    """

    name: str
    action: str | None
    sender: Account
    repository: Repository | None
    installations: Sequence[Installation]
    parts: Mapping[str, Any]
