"""What speaks with a model: the protocol, and what can go wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.domain.errors import Retryable
from bot.search.judge.question import Prompt


class EndpointError(Retryable):
    """The endpoint cannot be reached, refuses, or asks for a pause of `after` seconds.

    The message is for whoever runs the host; it quotes neither key nor texts.
    """


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, the tokens that its endpoint counted, and what it calls the model.

    `cut` says that the model would have written more.
    """

    text: str
    tokens_in: int
    tokens_out: int
    model: str
    cut: bool = False


class Endpoint(Protocol):
    """A model behind an address. Safe to share between threads."""

    @property
    def model(self) -> str:
        """What the host calls it."""
        ...

    def ask(self, question: Prompt, seconds: float) -> Completion:
        """Put a question. Raises Unreached, and NoAnswer where what came is no message of a model."""
        ...


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in whatever currency the host counts."""

    into: float = 0.0
    out: float = 0.0

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """What so many tokens cost."""
        return (self.into * tokens_in + self.out * tokens_out) / 1_000_000
