"""How much memory an answer takes, about."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

_DEEPEST = 20


def size_of(value: Any, deepest: int = _DEEPEST) -> int:
    """Bytes of a value with all that is in it, where it is made as tools' answers are: texts, containers, dataclasses.

    What is in it twice counts twice; anything else counts without its contents, and so does what lies deeper.
    """
    own = sys.getsizeof(value)
    return own + sum(size_of(part, deepest - 1) for part in _parts(value)) if deepest else own


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return chain(value.keys(), value.values())
    if isinstance(value, tuple | list | set | frozenset):
        return value
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    return ()
