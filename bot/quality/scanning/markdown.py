"""Renders the backlog scan as Markdown, for the scan's issue and `doppel scan --markdown`, and as an HTML page (D8).

On github.com, links go through redirect.github.com, so that no issue gets a back-link. Titles and reasons are escaped,
because strangers wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape as quoted
from typing import Protocol

from markdown_it import MarkdownIt

from bot.conversation.commands.table import COMMANDS_BY_NAME, CommandName
from bot.conversation.marker import SCAN
from bot.conversation.messages.catalogue import Messages, english
from bot.conversation.render.comment import confidence_words
from bot.conversation.render.details import bullets, sentence
from bot.conversation.render.escape import RepoLinks, break_phrase, clean, code, escape
from bot.conversation.render.phrases import command_words, reasons_in
from bot.domain.entities import BODY_MAX
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, GroupMember, ScanResult

# The number of members to show in a group, and smaller numbers to try if the text gets too long.
_MEMBERS = (20, 5, 1)
EVERYTHING = 10**9
"""All groups of any backlog fit into this many characters."""
# Characters to keep free for the sentence about omitted groups.
_RESERVED = 400


class IssueNames(Protocol):
    """Names issues. `RepoLinks`, `PageLinks` and `FileIssueNames` implement this protocol."""

    def issue(self, number: int) -> str: ...


@dataclass(frozen=True, slots=True)
class FileIssueNames:
    """Names an issue by its id in the file that it comes from."""

    names: Mapping[int, str]

    def issue(self, number: int) -> str:
        return code(self.names[number], 60)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links to issues below the repository's address."""

    home: str

    def issue(self, number: int) -> str:
        return f"[#{number}]({self.home}/issues/{number})"


def render_scan(result: ScanResult, links: RepoLinks, checked: datetime, say: Messages) -> str:
    """The body of the scan's issue, with the marker as the first line, in at most 65,536 characters.

    The text mentions omitted groups, and shows `checked` in its own time zone.
    """
    # `break_phrase` adds characters, so call it before `len(time)`. The setting `templates` can make `time` long.
    time = break_phrase(say.checked(time=checked))
    # The 200 characters are for the marker and the blank lines.
    inside = scan_markdown(result, links, say, BODY_MAX - 200 - len(time))
    # If a text says "duplicate of" unbroken, GitHub marks the issue as a duplicate.
    text = break_phrase(f"{inside}\n\n{time}")
    # The marker has a fingerprint of `inside`, without the time, so that an otherwise unchanged issue is not edited.
    return f"{SCAN.line(inside)}\n{text}\n"


def scan_markdown(
    result: ScanResult, links: IssueNames, say: Messages, limit: int = BODY_MAX - 200, most: int | None = None
) -> str:
    """The most useful groups in at most `limit` characters, and the number of omitted groups.

    With `most`, the text has at most `most` groups, and does not mention omitted groups.
    """
    blocks = [heading(result, say)]
    if result.groups:
        commands = (CommandName.OF, CommandName.NOT, CommandName.SCAN)
        listed = (
            say.command(command=code(COMMANDS_BY_NAME[one].syntax), says=command_words(one, say)) for one in commands
        )
        blocks += [say.scan_how(), bullets(listed)]
    room = limit - _RESERVED - sum(len(block) + 2 for block in blocks)  # 2: the line breaks between blocks
    shown = 0
    for rank, group in enumerate(result.groups[:most], 1):
        texts = (_group(rank, group, links, most_members, say) for most_members in _MEMBERS)
        block = next((text for text in texts if len(text) + 2 <= room), None)
        if block is None:
            break
        blocks.append(block)
        room -= len(block) + 2
        shown += 1
    if most is None and (omitted := result.groups[shown:]):
        closable = sum(group.closable for group in omitted)
        blocks.append(say.scan_left_out(groups=say.groups(count=len(omitted)), issues=say.issues(count=closable)))
    text = break_phrase("\n\n".join(blocks))
    # Only a repository's templates can make the text too long, so use the bot's own messages instead.
    return text if len(text) <= limit else scan_markdown(result, links, say.plain, limit, most)


def heading(result: ScanResult, say: Messages) -> str:
    """A sentence with the numbers of groups and of issues to close."""
    backlog = say.among_all(count=result.issues) if result.closed else say.among_open(count=result.issues)
    if not result.groups:
        return say.scan_nothing(among=backlog)
    return say.scan_found(
        groups=say.groups(count=len(result.groups)), issues=say.issues(count=result.closable), among=backlog
    )


def facts(group: DuplicateGroup, say: Messages) -> str:
    return say.scan_sums(
        issues=say.issues(count=1 + len(group.members)),
        up=group.thumbs_up,
        down=group.thumbs_down,
        comments=say.comments(count=group.comments),
    )


def state_and_day(entry: BacklogIssue, say: Messages) -> str:
    state = say.state_open() if entry.state == "open" else say.state_closed()
    return f"{state} · {say.reported(day=entry.created_at.date())}"


def _group(rank: int, group: DuplicateGroup, links: IssueNames, most_members: int, say: Messages) -> str:
    """The group as an item of a numbered list: the original, with indented lines below it."""
    original, prefix = group.original, f"{rank}. "
    lines = [
        f"- {sentence(state_and_day(original, say))} · {facts(group, say)}",
        *(line for member in group.members[:most_members] for line in _member(member, links, say)),
    ]
    if len(group.members) > most_members:
        lines.append(f"- {say.also_more(count=len(group.members) - most_members)}")
    title = f"{prefix}{links.issue(original.number)} {escape(original.title)}"
    return "\n".join([title, *(" " * len(prefix) + line for line in lines)])


def _member(member: GroupMember, links: IssueNames, say: Messages) -> list[str]:
    entry = member.entry
    first = f"{confidence_words(member.confidence, say)} · {state_and_day(entry, say)}"
    reasons = [first, *reasons_in(member.reasons, say)]
    return [f"- {links.issue(entry.number)} {escape(entry.title)}", *(f"  - {sentence(reason)}" for reason in reasons)]


_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --link: #0969da; }
@media (prefers-color-scheme: dark) { :root { --ink: #f0f6fc; --paper: #0d1117; --link: #4493f8; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 50rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } a { color: var(--link); } li { margin: .5rem 0; }
"""


def scan_page(result: ScanResult, links: IssueNames, name: str, checked: datetime) -> str:
    """The Markdown of all groups as an HTML page; `name` says what was scanned, and `checked` when."""
    say = english()
    title, when = quoted(clean(f"{say.scan_title()}: {name}")), quoted(say.checked(time=checked))
    # Only GitHub makes formulas of dollar signs, so undo `no_formula` for a page.
    text = scan_markdown(result, links, say, EVERYTHING).replace("<span>$</span>", "$")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n'
        f"{MarkdownIt('commonmark', {'html': False}).render(text)}<p>{when}</p>\n</body>\n</html>\n"
    )
