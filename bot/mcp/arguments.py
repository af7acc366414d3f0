"""The arguments of the tools, as a model sees them and as they are checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field


def _no_flag(value: object) -> object:
    """F1: `true` is no issue's number; Python, and what checks arguments for us, take it for 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


# Behind the limits where it is used: before them it would hide them from the schema that clients are given.
Given = BeforeValidator(_no_flag)
Owner = Annotated[str | None, Field(description="Default: the server's.")]
Repo = Annotated[str | None, Field(description="Or OWNER/REPO. Default: the server's.")]
Number = Annotated[int, Field(description="As in #12.", ge=1), Given]
Threshold = Annotated[float, Field(description="Least similarity of titles.", ge=0, le=1), Given]
MinConfidence = Annotated[float, Field(description="Least confidence.", ge=0, le=1), Given]
Most = Annotated[int, Field(description="The most candidates.", ge=1, le=100), Given]
IncludeClosed = Annotated[bool, Field(description="Closed ones too.")]
Fresh = Annotated[bool, Field(description="Not from memory.")]
Relevance = Annotated[
    Literal["learned", "title", "bm25", "bm25f", "bm25plus"],
    Field(description="To sort by; learned is best."),
]
