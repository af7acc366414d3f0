"""A digest as people read it: sentences, and the body of the one issue with a box for each answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.calibration.bar import Bar, Origin
from bot.digest.boxes import Pair, box
from bot.digest.week import Digest, Line, Standing
from bot.feedback.model import Kind
from bot.render.comment import COMMENT_MAX
from bot.render.escape import break_phrase, escape
from bot.render.evaluation import percent
from bot.render.links import Place
from bot.render.marker import digest_marker

TITLE = "What Doppel did in the last week"
"""Of the one issue that shows the digest."""

LINES_MOST = 50
"""Issues in the digest's issue, the latest; each has two lines and two boxes."""

_SAID: Mapping[Kind, str] = {
    Kind.REACTION: "a vote",
    Kind.BOX: "a box here",
    Kind.VOTE: "a vote on the dashboard",
    Kind.CLOSED: "how it was closed",
    Kind.RETITLED: "a new title",
    Kind.NOT: "`/duplicates not`",
    Kind.OF: "`/duplicates of`",
}
_STANDING: Mapping[Standing, str] = {
    Standing.RIGHT: "right",
    Standing.WRONG: "wrong",
    Standing.DISPUTED: "disputed",
    Standing.UNKNOWN: "nobody has said",
}


def sentences(found: Digest, zone: datetime) -> str:
    """The whole digest in a few sentences; `zone` is a time in the zone in which days are shown."""
    days = " to ".join(_day(moment, zone) for moment in (found.since, found.until))
    said = [f"From {days} the bot looked at {_count(found.looked, 'issue')}, {found.new:,} of them new."]
    if found.commented or not found.would:
        said.append(f"It commented on {found.commented:,}.")
    if found.would:
        said.append(f"It would have commented on {found.would:,}.")
    if found.lines:
        parts = [
            f"{found.count(standing):,} {words}"
            for standing, words in (
                (Standing.RIGHT, "right"),
                (Standing.WRONG, "wrong"),
                (Standing.DISPUTED, "both"),
                (Standing.UNKNOWN, "not said yet"),
            )
            if found.count(standing)
        ]
        said.append(f"As far as people have said: {', '.join(parts)}.")
    if found.missed:
        said.append(f"On {found.missed:,} it was silent that people say were reported before.")
    return " ".join(said)


def bar_words(bar: Bar) -> str:
    """Which bar is in force, and who put it there."""
    if bar.origin is Origin.SETTINGS:
        return f"The bar is {bar.value:.2f}, as the settings say."
    if bar.origin is Origin.FEEDBACK:
        weights = f"{bar.right:g} right and {bar.wrong:g} wrong, as weights"
        return f"The bar is {bar.value:.2f}: feedback has moved it there ({weights}). `calibrate: off` puts it back."
    return f"The bar is {bar.value:.2f}, the usual one."


def standing_words(line: Line) -> str:
    """What people have said of one comment, and how."""
    how = ", ".join(_SAID[kind] for kind in line.said)
    return f"{_STANDING[line.standing]} ({how})" if how else _STANDING[line.standing]


def render_digest(
    found: Digest, titles: Mapping[int, str], ticked: Mapping[Pair, bool], bar: Bar, place: Place, checked: datetime
) -> str:
    """The body of the one issue, with its marker as the first line, in at most 65,536 characters.

    `ticked` are the boxes that are ticked already. Links and titles are such that nobody is pinged and no issue gets a
    back-link.
    """
    lines = found.lines[:LINES_MOST]
    while len(body := _body(found, lines, titles, ticked, bar, place, checked)) > COMMENT_MAX:
        lines = lines[:-1]
    return body


def markdown(found: Digest, titles: Mapping[int, str], bar: Bar, place: Place, zone: datetime) -> str:
    """The digest as a document: sentences and a table."""
    rows = ["| issue | reported before as | how likely | so far |", "|---|---|---|---|"]
    for line in found.lines:
        cells = (_named(line.number, titles, place), _named(line.other, titles, place), percent(line.probability))
        rows.append(f"| {' | '.join(cells)} | {standing_words(line)} |")
    table = "\n".join(rows) if found.lines else ""
    return break_phrase("\n\n".join(part for part in (sentences(found, zone), bar_words(bar), table) if part)) + "\n"


def _body(
    found: Digest,
    lines: tuple[Line, ...],
    titles: Mapping[int, str],
    ticked: Mapping[Pair, bool],
    bar: Bar,
    place: Place,
    checked: datetime,
) -> str:
    blocks = [sentences(found, checked), bar_words(bar)]
    if lines:
        blocks.append(
            "Were these the same? People who can write to this repository can tick a box; each counts as feedback "
            "of theirs. This issue is kept up to date; close it, and it is left alone."
        )
    blocks += [_item(line, titles, ticked, place) for line in lines]
    if left := len(found.lines) - len(lines):
        blocks.append(f"And {left:,} more; `doppel digest` shows all of them.")
    inside = break_phrase("\n\n".join(blocks))
    time = checked.strftime("%Y-%m-%d %H:%M %Z").strip()
    return f"{digest_marker(inside)}\n{inside}\n\nChecked on {time}.\n"


def _item(line: Line, titles: Mapping[int, str], ticked: Mapping[Pair, bool], place: Place) -> str:
    pair = (line.number, line.other)
    did = "named" if line.posted else "would have named"
    other = _named(line.other, titles, place)
    return "\n".join(
        [
            f"- {_named(line.number, titles, place)}",
            f"  {did} {other} ({percent(line.probability)}); so far: {standing_words(line)}",
            f"  {box(pair, True, ticked.get(pair) is True)} the same",
            f"  {box(pair, False, ticked.get(pair) is False)} not the same",
        ]
    )


def _named(number: int, titles: Mapping[int, str], place: Place) -> str:
    title = escape(titles.get(number, ""))
    return f"{place.issue(number)} {title}" if title else place.issue(number)


def _day(moment: float, zone: datetime) -> str:
    return datetime.fromtimestamp(moment, zone.tzinfo).date().isoformat()


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
