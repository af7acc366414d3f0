"""Checks answers, webhooks and requests with githubkit's models, which come from GitHub's description of its API.

A wrong answer or webhook is a bug of the simulator, so it raises ContractViolation. A wrong request is a bug of the
client, so the simulator refuses it, with the errors that `problems` lists.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Union

from pydantic import TypeAdapter, ValidationError


class ContractViolation(AssertionError):
    """The simulator was about to send a body that GitHub would never send."""


@cache
def _adapter(model: str) -> TypeAdapter[Any]:
    """The validator for a model of githubkit (`A`), for any of several models (`A|B`), or for a list (`[A]`).

    Raises ContractViolation for a model that githubkit lacks.
    """
    # Import late: the models take a third of a second to import, and most users of this module do not need them.
    from githubkit_schemas.v2026_03_10 import models

    members = [getattr(models, name, None) for name in model.strip("[]").split("|")]
    if None in members:
        raise ContractViolation(f"githubkit has no model {model}")
    kind: Any = Union[tuple(members)]  # noqa: UP007 - the members are known only at run time
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
    """The errors in a client's request body, as (field, problem) pairs; none if the body is a valid `model`."""
    try:
        _adapter(model).validate_python(body)
    except ValidationError as error:
        return [(".".join(str(part) for part in entry["loc"]), entry["msg"]) for entry in error.errors()]
    return []
