"""Holds every answer and every webhook against githubkit's models, which are made from GitHub's own description.

A body that does not fit is a fault of the simulator, never of its user: it is raised, not reported to the client as an
answer of GitHub's.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Union

from pydantic import TypeAdapter, ValidationError


class ContractViolation(AssertionError):
    """The simulator was about to send what GitHub never would."""


@cache
def _adapter(model: str) -> TypeAdapter[Any]:
    """The validator of one of githubkit's models, of one of several (`A|B`) or of a list (`[A]`).

    Raises ContractViolation for one that githubkit has not.
    """
    # Here, because the models take a third of a second to import and most users of this module never need them.
    from githubkit_schemas.v2026_03_10 import models

    found = [getattr(models, name, None) for name in model.strip("[]").split("|")]
    if None in found:
        raise ContractViolation(f"githubkit has no model {model}")
    kind: Any = Union[tuple(found)]  # noqa: UP007 - made of what is only known when it runs
    return TypeAdapter(list[kind] if model.startswith("[") else kind)


def check(model: str, body: Any) -> None:
    """Raise ContractViolation unless the body is a valid `model`."""
    try:
        _adapter(model).validate_python(body)
    except ValidationError as error:
        raise ContractViolation(f"{model}: {error}") from error


def check_event(event: str, action: str | None, body: Any) -> None:
    """Raise ContractViolation unless the body is a valid payload of that webhook."""
    words = f"webhook_{event}_{action or ''}".replace(".", "_").split("_")
    check("".join(word.capitalize() for word in words), body)


def problems(model: str, body: Any) -> list[tuple[str, str]]:
    """What a client's request body has wrong: (field, problem) pairs, none if it is a valid `model`."""
    try:
        _adapter(model).validate_python(body)
    except ValidationError as error:
        return [(".".join(str(part) for part in entry["loc"]), entry["msg"]) for entry in error.errors()]
    return []
