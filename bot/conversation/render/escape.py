"""Turns a stranger's text into Markdown that shows exactly that text and has no other effect.

Three steps: `clean` removes invisible characters and characters that reorder a line; `disarm` breaks the mentions,
references and addresses that GitHub recognises in the *rendered* text; `escape` escapes Markdown and HTML. GitHub looks
for mentions and references after it has rendered Markdown, so a backslash does not help, but a zero-width space does.

Sources: GitHub docs, "Autolinked references and URLs", "Marking issues or pull requests as a duplicate" and "Writing
mathematical expressions"; the GFM specification.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from bot.domain.entities import Closer
from bot.domain.report import Candidate, ItemKind
from bot.text.invisible import JOINERS, is_ignorable, without_invisible

ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"
TEXT_MAX = 200
"""The most characters to show of a title or another text."""

# How many characters of a text are read; a hostile text may have millions.
_READ_MAX = 20_000
# A text's Markdown may be this many times as long as the text's limit. A `$` becomes 14 characters, so without
# this bound a few hostile titles could fill a comment.
_GROWTH_MAX = 5
# The most combining marks on a letter. A tower of more marks would cover the lines above.
_MARKS_MAX = 3
_BLANK = "\N{BRAILLE PATTERN BLANK}"


def clean(text: str, limit: int = TEXT_MAX) -> str:
    """`text` on one line, without control, invisible and bidirectional characters, cut to `limit` with `…`."""
    kept: list[str] = []
    marks = 0
    for char in text[:_READ_MAX]:
        if is_ignorable(char):
            # The letter's marks still count. Below, `without_invisible` removes needless ignorable characters.
            kept.append(char)
            continue
        category = unicodedata.category(char)
        if category in ("Mn", "Me"):
            marks += 1
        elif category != "Cf":
            marks = 0
        if category == "Cs":
            # A lone surrogate, which JSON allows but request bodies do not.
            kept.append("\N{REPLACEMENT CHARACTER}")
        elif category in ("Cc", "Zl", "Zp") or char == _BLANK:
            kept.append(" ")
        elif category != "Cf" and marks <= _MARKS_MAX:
            kept.append(char)
    line = " ".join(without_invisible("".join(kept)).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip(f" {JOINERS}") + "…"


# "duplicate of" in a comment marks the issue as a duplicate.
_PHRASE = re.compile(rf"duplicate(?=[\s{JOINERS}]*of)", re.IGNORECASE)
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{7,}(?![0-9A-Za-z])")
_ACTIVE = re.compile(
    r"@"  # mentions of people and teams, owner/repo@commit, mail addresses
    # `#1` and `GH-1`, also after an underscore. As references, they would leave back-links in issues.
    r"|#(?=[0-9])|(?<![0-9A-Za-z])GH-(?=[0-9])"
    r"|:(?=//)|(?<![0-9A-Za-z])(?:(?:mailto|xmpp):|www(?=\.))"  # addresses that GitHub turns into links
    r"|:(?=(?![0-9]{2}:)[a-z0-9_+-]{1,40}:)",  # names of emoji, but not the time of day
    re.IGNORECASE,
)


def disarm(text: str) -> str:
    """Break with zero-width spaces all that GitHub recognises anywhere in rendered text."""
    text = _ACTIVE.sub(lambda found: found[0] + ZERO_WIDTH_SPACE, text)
    # Seven hexadecimal digits may name a commit; six digits never do.
    text = _HEX.sub(lambda found: ZERO_WIDTH_SPACE.join(re.findall(".{1,6}", found[0])), text)
    return break_phrase(text)


def break_phrase(text: str) -> str:
    """Break the phrase "duplicate of", also across lines."""
    return _PHRASE.sub(lambda found: found[0] + ZERO_WIDTH_SPACE, text)


_SPECIAL = re.compile(r"[\\`*\[\]|~]")
# Markdown ignores an underscore between letters or digits, so `snake_case` can stay readable in mails.
_UNDERSCORE = re.compile(r"(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_ENTITY = re.compile(r"&(?=[#A-Za-z])")
_LINE_START = re.compile(r"(?:[-+=#]|[0-9]{1,9}(?=[.)]))")


def escape(text: str, limit: int = TEXT_MAX) -> str:
    """Markdown that shows only `text`, cleaned and disarmed; safe anywhere in a line, also at its start.

    The result is empty if no character is left. It has at most five times `limit` characters: a text that needs much
    escaping is cut shorter.
    """
    text = clean(text, limit)
    while len(markdown := _markdown(disarm(text))) > _GROWTH_MAX * limit:
        text = clean(text, len(text) // 2)
    return markdown


def _markdown(text: str) -> str:
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
    text = _UNDERSCORE.sub(r"\\_", _SPECIAL.sub(r"\\\g<0>", text))
    if start := _LINE_START.match(text):
        # A list, a heading or an underline would begin here. Escape the sign after a number, otherwise the first sign.
        at = start.end() if start[0].isdigit() else 0
        text = f"{text[:at]}\\{text[at:]}"
    return no_formula(text)[0]


_DOLLAR = re.compile(r"(?<!<span>)\$")


def no_formula(*texts: str) -> list[str]:
    """If one paragraph's Markdown texts have several dollar signs, escape these signs: two signs make a formula."""
    several = sum(text.count("$") for text in texts) > 1
    # GitHub documents only `<span>` for this.
    return [_DOLLAR.sub("<span>$</span>", text) if several else text for text in texts]


def code(text: str, limit: int = 300) -> str:
    """A code span that shows `text`, or a dash if no character is left. GitHub acts on "duplicate of" even in code."""
    # `<!--` begins a marker: only the first line of the bot's comments may look like one.
    text = break_phrase(clean(text, limit)).replace("<!--", f"<{ZERO_WIDTH_SPACE}!--") or "–"
    fence = _fence(text, least=1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_block(text: str) -> str:
    """A block of code that shows `text`, whatever fences the text contains."""
    fence = _fence(text, least=3)
    return f"{fence}text\n{text}\n{fence}"


def _fence(text: str, least: int) -> str:
    """At least `least` backticks, and more than the longest run of backticks in the text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


_PATHS: dict[ItemKind, str] = {"issue": "issues", "pull request": "pull", "discussion": "discussions"}


@dataclass(frozen=True, slots=True)
class RepoLinks:
    """Links in a comment in `repo` (`OWNER/REPO`). `enterprise`: its GitHub is an Enterprise Server."""

    repo: str
    enterprise: bool = False

    def issue(self, number: int, repo: str = "") -> str:
        """A link to issue `number` that leaves no back-link there (C3). `repo` is OWNER/REPO of another repository.

        GitHub sees no reference in an address at `redirect.github.com`; Dependabot and Renovate use that host too.
        Enterprise Server has no such host, so its users see the number in a code span.
        """
        return self._link(repo, repo or self.repo, "issues", number)

    def discussion(self, number: int) -> str:
        return self._link("", self.repo, _PATHS["discussion"], number)

    def candidate(self, candidate: Candidate) -> str:
        """Like `issue`, for a candidate of any kind, perhaps of another repository."""
        return self._link(candidate.repo, candidate.repo or self.repo, _PATHS[candidate.kind], candidate.number)

    def closer(self, closer: Closer) -> str:
        """Like `issue`, for the pull request or the commit that closed an issue."""
        if closer.pull:
            return self._link("", self.repo, _PATHS["pull request"], closer.pull)
        short_hash = code(closer.commit[:7])
        address = f"https://redirect.github.com/{quote(self.repo, safe='/')}/commit/{quote(closer.commit)}"
        return short_hash if self.enterprise else f"[{short_hash}]({address})"

    def _link(self, shown_repo: str, repo: str, path: str, number: int) -> str:
        if self.enterprise:
            return code(f"{shown_repo}#{number}")
        return f"[{escape(shown_repo)}#{number}](https://redirect.github.com/{quote(repo, safe='/')}/{path}/{number})"
