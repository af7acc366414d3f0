"""The backlog scan as Markdown: the bot's one issue, and `doppel scan --markdown` (D8).

Links go through the redirecting host as those of comments do, so that no issue gets a back-link; titles and reasons are
strangers' text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.commands.table import BY_NAME, Name
from bot.render.candidates import REASONS_MAX, confidence_words
from bot.render.comment import COMMENT_MAX
from bot.render.details import bullets, sentence
from bot.render.escape import break_phrase, code, escape
from bot.render.links import Place
from bot.render.marker import scan_marker
from bot.render.phrases import ENGLISH as SAY
from bot.scanning.model import Entry, Group, Member, Result

TITLE = "Possible duplicates in the backlog"
"""Of the one issue that shows the result."""

# Members of a group that are shown, and how many instead where that is too long.
_MEMBERS = (20, 5, 1)
# Room for the sentence that says what was left out.
_RESERVED = 400


class Named(Protocol):
    """What says how an issue is named: `Place`, or `FromFile`."""

    def issue(self, number: int) -> str: ...


@dataclass(frozen=True, slots=True)
class FromFile:
    """The issues of a file, by the names that they have there."""

    names: Mapping[int, str]

    def issue(self, number: int) -> str:
        """A name is a stranger's text, too."""
        return code(self.names[number], 60)


@dataclass(frozen=True, slots=True)
class Shown:
    """Markdown, and how many of the groups are in it."""

    text: str
    groups: int


def render_scan(result: Result, place: Place, checked: str) -> str:
    """The body of the one issue, with its marker as the first line; `checked` is the time as it shall be read.

    At most 65,536 characters; what is left out is said.
    """
    inside = scan_markdown(result, place).text
    # The time does not count for the fingerprint: an issue that says the same need not be edited.
    return f"{scan_marker(inside)}\n{inside}\n\n{SAY.checked.format(time=checked)}\n"


def scan_markdown(result: Result, place: Named, limit: int = COMMENT_MAX - 200) -> Shown:
    """The result in Markdown, in at most `limit` characters: the groups that gain most, and what is left out."""
    blocks = [heading(result)]
    if result.groups:
        blocks += [SAY.scan_how, _commands()]
    room = limit - _RESERVED - sum(len(block) + 2 for block in blocks)
    shown = 0
    for rank, group in enumerate(result.groups, 1):
        sizes = ((most, _group(rank, group, place, most)) for most in _MEMBERS)
        block = next((text for _, text in sizes if len(text) + 2 <= room), None)
        if block is None:
            break
        blocks.append(block)
        room -= len(block) + 2
        shown += 1
    if left := result.groups[shown:]:
        closable = sum(group.closable for group in left)
        blocks.append(SAY.scan_left_out.format(groups=_groups(len(left)), issues=_issues(closable)))
    return Shown(break_phrase("\n\n".join(blocks)), shown)


def heading(result: Result) -> str:
    """How much there is to gain, in a sentence."""
    looked = (SAY.scan_among_all if result.closed else SAY.scan_among_open).format(count=f"{result.issues:,}")
    if not result.groups:
        return SAY.scan_nothing.format(among=looked)
    return SAY.scan_found.format(groups=_groups(len(result.groups)), issues=_issues(result.closable), among=looked)


def facts(group: Group) -> str:
    """What people gave all issues of a group together."""
    return SAY.scan_sums.format(
        issues=_issues(1 + len(group.members)),
        up=group.thumbs_up,
        down=group.thumbs_down,
        comments=SAY.scan_comment if group.comments == 1 else SAY.scan_comments.format(count=f"{group.comments:,}"),
    )


def age(entry: Entry) -> str:
    """Open or closed, and since when it is there."""
    state = SAY.state_open if entry.state == "open" else SAY.state_closed
    return f"{state} · {SAY.reported.format(day=entry.created_at.date().isoformat())}"


def _group(rank: int, group: Group, place: Named, most: int) -> str:
    original = group.original
    lines = [
        f"{rank}. {place.issue(original.number)} {escape(original.title)}",
        f"{sentence(age(original))} · {facts(group)}",
        *(line for member in group.members[:most] for line in _member(member, place)),
    ]
    if len(group.members) > most:
        lines.append(SAY.also_more.format(count=len(group.members) - most))
    return _nested(lines)


def _member(member: Member, place: Named) -> list[str]:
    """The line of a member, and below it what speaks for it, marked by the indentation."""
    entry = member.entry
    said = [f"{confidence_words(member.confidence)} · {age(entry)}", *member.reasons[:REASONS_MAX]]
    reasons = [said[0], *(reason for reason in map(escape, said[1:]) if reason)]
    return [
        f"{place.issue(entry.number)} {escape(entry.title)}",
        *(f"  - {sentence(reason)}" for reason in reasons),
    ]


def _nested(lines: Sequence[str]) -> str:
    """The first line begins an item of a numbered list, and the others stand below it."""
    first, *others = lines
    indent = " " * (first.index(".") + 2)
    return "\n".join(
        [first, *(f"{indent}{line}" if line.startswith("  - ") else f"{indent}- {line}" for line in others)]
    )


def _commands() -> str:
    """What to write on the newer issues."""
    return bullets(f"{code(BY_NAME[name].syntax)} – {BY_NAME[name].says}" for name in (Name.OF, Name.NOT, Name.SCAN))


def _groups(count: int) -> str:
    return SAY.scan_group if count == 1 else SAY.scan_groups.format(count=f"{count:,}")


def _issues(count: int) -> str:
    return SAY.scan_issue if count == 1 else SAY.scan_issues.format(count=f"{count:,}")
