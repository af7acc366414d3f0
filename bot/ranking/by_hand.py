"""Probabilities that are set by hand, whatever a model has learned: labelled files hold next to none of these cases.

Which candidates they are for is told by `bot/matching/bounds.py`.
"""

from __future__ import annotations

COPY_CONFIDENCE = 0.25
"""The least of a copy by somebody else. Most of the few in the files are not marked as duplicates (4 of golang-go's 43
are), so they are said to be likely enough to be shown, and not more."""

ANOTHER_CONFIDENCE = 0.1
"""The most of what differs in its title by its number alone, or by a word in one place: it is meant to be another."""

LITTLE_CONFIDENCE = 0.1
"""The most where one of the two says next to nothing: what they share is next to nothing as well."""

NO_MORE_THAN_A_WORD = 0.25
"""With fewer issues than `size.SMALL` a repository has no background to stand out from: whoever shares less than this
part of their words there shares a common one."""
