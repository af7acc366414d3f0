"""Finds the release that fixed a closed issue, if a new report names only earlier releases. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.domain.entities import Closer, Release

# A number with one to three dots that stands alone, such as `1.8` or `v2.0.3`. A tag may have text around the number.
_VERSION = re.compile(r"(?<![\w.])[vV]?([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})(?![\w]|\.[0-9])")
_IN_TAG = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,5}){1,3}")


def fixed_in(text: str, closer: Closer, releases: Iterable[Release]) -> str:
    """The release that fixed a closed issue, if the new report's `text` names only earlier releases; else empty.

    The fix is in the closed issue's milestone, or else in the first release after a pull request or commit closed it.
    A number with dots in `text` counts only if the repository has released that version. Any other number could be the
    version of another program.
    """
    released = {number: one for one in releases if (number := _version_of(one.tag))}
    reported = released.keys() & {_version_of(found[1]) for found in _VERSION.finditer(text)}
    fixed = closer.milestone if _version_of(closer.milestone) else ""
    if not fixed and (closer.pull or closer.commit):
        later = [one for one in released.values() if closer.at is not None and one.published_at > closer.at]
        fixed = min(later, key=lambda one: one.published_at).tag if later else ""
    # If `fixed` is empty, its version is the empty tuple, which is less than every version.
    return fixed if reported and _version_of(fixed) > max(reported) else ""


def _version_of(tag: str) -> tuple[int, ...]:
    """The version in the name of a tag or milestone, without zeros at the end; empty if the name has no version."""
    found = _IN_TAG.search(tag)
    parts = [int(part) for part in found[0].split(".")] if found else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)
