"""Which lines of an issue come from its form: nobody has written them, so they say nothing about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set

from bot.index.analysis.protocol import MOST_LINES

#: A line that at least so many issues, and so large a part of all, have in common comes from the form.
SUPPLIED_ISSUES, SUPPLIED_SHARE = 5, 0.003


def supplied(
    lines: Set[str], own: Collection[str], known: Set[str], seen: Mapping[str, int], copies: int, issues: int
) -> set[str]:
    """Those of an issue's lines that its form has supplied.

    `lines` are those of the issue that may be the form's, `own` all that count, `known` what the repository's forms are
    known to say. `seen` says in how many of the `issues` before it each occurs. Of these, `copies` are this very issue
    again, title and text: as often as that recurs, its lines may recur for it alone, and no form is to blame.
    """
    least = max(SUPPLIED_ISSUES, SUPPLIED_SHARE * issues)
    recurring = {line for line in lines if seen[line] >= SUPPLIED_ISSUES > copies}
    found = {line for line in lines if seen[line] >= least > copies} | (known & lines)
    if found and (recurring | found).issuperset(own):
        # An empty form keeps even those lines of it that most people delete.
        found |= recurring
    return found


def supplied_before(lines: Sequence[str], copy: str, stored: Collection[str]) -> set[str] | None:
    """Those of an issue's lines that its form was found to have supplied when the issue was read; None if unknown.

    `stored` are those of its lines that were counted then, and `copy`, the text as one, if anything was. Who asks how
    often a line recurs now would get another answer: a form that is out of use no longer recurs often enough.
    """
    if stored and copy not in stored:
        # It was read by a version that had other lines.
        return None
    if len(stored) > MOST_LINES:
        # Those behind the last one that is counted may be anybody's.
        return None
    return {line for line in lines if line} - {*stored}
