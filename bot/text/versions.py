"""Which release a text names, and whether another one has mended what it reports. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.domain.entities import Closer, Release

_VERSION = re.compile(r"(?<![\w.])[vV]?([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})(?![\w]|\.[0-9])")
_IN_TAG = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,5}){1,3}")


def fixed_in(text: str, closer: Closer, releases: Iterable[Release]) -> str:
    """The release in which an issue is mended that was closed so, where `text` names an earlier one; else empty.

    That is the issue's milestone, or else the first release after a pull request or commit closed it. A number with
    dots can be the version of anything: in `text` one counts that the repository has released.
    """
    known = {number: one for one in releases if (number := _number(one.tag))}
    named = [number for found in _VERSION.finditer(text) if (number := _number(found[1])) in known]
    mended = closer.milestone if _number(closer.milestone) else ""
    if not mended and (closer.pull or closer.commit):
        later = [one for one in known.values() if closer.at is not None and one.published_at > closer.at]
        mended = min(later, key=lambda one: one.published_at).tag if later else ""
    return mended if named and _number(mended) > max(named) else ""


def _number(tag: str) -> tuple[int, ...]:
    """The version that a tag or a milestone is called by, without zeros at its end; empty where there is none."""
    found = _IN_TAG.search(tag)
    parts = [int(part) for part in found[0].split(".")] if found else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)
