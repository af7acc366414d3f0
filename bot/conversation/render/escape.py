"""Strangers' text → Markdown that shows exactly that text and does nothing else.

Three steps: `clean` removes invisible characters and those that reorder a line, `disarm` breaks what GitHub acts on in
the *rendered* text (mentions, references, addresses), and `escape` keeps Markdown and HTML from being interpreted.
GitHub looks for mentions and references after Markdown, so a backslash does not help; a zero-width space does.

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
"""Characters of a title or another text that are shown. GitHub's titles have at most 256."""

# Characters that are read; a hostile text may have millions.
_READ_MAX = 20_000
# Escaping makes dollar signs longest; without a bound a few hostile titles would fill a comment.
_GROWTH_MAX = 5
# More marks on a letter form a tower that covers the lines above.
_MARKS_MAX = 3
_BLANK = "\N{BRAILLE PATTERN BLANK}"


def clean(text: str, limit: int = TEXT_MAX) -> str:
    """`text` on one line, without controls, invisible characters and bidirectional marks, cut to `limit` with `…`."""
    kept: list[str] = []
    marks = 0
    for char in text[:_READ_MAX]:
        if is_ignorable(char):
            # Invisible characters do not separate a mark from its letter.
            kept.append(char)
            continue
        category = unicodedata.category(char)
        if category in ("Mn", "Me"):
            marks += 1
        elif category != "Cf":
            marks = 0
        if category == "Cs":
            # A lone surrogate, which JSON can carry but no request body can.
            kept.append("\N{REPLACEMENT CHARACTER}")
        elif category in ("Cc", "Zl", "Zp") or char == _BLANK:
            kept.append(" ")
        elif category != "Cf" and marks <= _MARKS_MAX:
            kept.append(char)
    line = " ".join(without_invisible("".join(kept)).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip(f" {JOINERS}") + "…"


_PHRASE = re.compile(rf"duplicate(?=[\s{JOINERS}]*of)", re.IGNORECASE)
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{7,}(?![0-9A-Za-z])")
_ACTIVE = re.compile(
    r"@"  # mentions of people and teams, owner/repo@commit, mail addresses
    # References to issues would leave a back-link there. An underscore before one, or before an address, ends a word.
    r"|#(?=[0-9])|(?<![0-9A-Za-z])GH-(?=[0-9])"
    r"|:(?=//)|(?<![0-9A-Za-z])(?:(?:mailto|xmpp):|www(?=\.))"  # addresses that become links by themselves
    r"|:(?=(?![0-9]{2}:)[a-z0-9_+-]{1,40}:)",  # names of emoji, but not the time of day
    re.IGNORECASE,
)


def disarm(text: str) -> str:
    """Break with zero-width spaces what GitHub acts on wherever it stands in rendered text."""
    text = _ACTIVE.sub(lambda found: found[0] + ZERO_WIDTH_SPACE, text)
    # Seven hexadecimal digits may name a commit; six never do.
    text = _HEX.sub(lambda found: ZERO_WIDTH_SPACE.join(re.findall(".{1,6}", found[0])), text)
    return break_phrase(text)


def break_phrase(text: str) -> str:
    """Break the words with which GitHub marks an issue as a duplicate of another, also across lines."""
    return _PHRASE.sub(lambda found: found[0] + ZERO_WIDTH_SPACE, text)


_SPECIAL = re.compile(r"[\\`*\[\]|~]")
# Between two letters or digits an underscore is text already, and `snake_case` stays readable in mails.
_UNDERSCORE = re.compile(r"(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_ENTITY = re.compile(r"&(?=[#A-Za-z])")
_LINE_START = re.compile(r"(?:[-+=#]|[0-9]{1,9}(?=[.)]))")


def escape(text: str, limit: int = TEXT_MAX) -> str:
    """Markdown that shows `text`, cleaned and disarmed, and nothing else; safe anywhere in a line, also at its start.

    The result is empty if nothing is left, and has at most five times `limit` characters: a text that needs much
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
        # A list, a heading or an underline begins here; of "1." the point is what has to be escaped.
        at = start.end() if start[0].isdigit() else 0
        text = f"{text[:at]}\\{text[at:]}"
    return no_formula(text)[0]


_DOLLAR = re.compile(r"(?<!<span>)\$")


def no_formula(*texts: str) -> list[str]:
    """Escaped texts of one paragraph, in which two dollar signs would make a formula.

    A `<span>` is the one way that GitHub documents to prevent it.
    """
    several = sum(text.count("$") for text in texts) > 1
    return [_DOLLAR.sub("<span>$</span>", text) if several else text for text in texts]


def code(text: str, limit: int = 300) -> str:
    """A code span that shows `text`; a dash if nothing is left. In code GitHub acts on one phrase alone."""
    # Only the bot's own first line may look like its marker.
    text = break_phrase(clean(text, limit)).replace("<!--", f"<{ZERO_WIDTH_SPACE}!--") or "–"
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


_PATHS: dict[ItemKind, str] = {"issue": "issues", "pull request": "pull", "discussion": "discussions"}


@dataclass(frozen=True, slots=True)
class RepoLinks:
    """Links in a comment in `repo` (`OWNER/REPO`), whose GitHub may be an Enterprise Server."""

    repo: str
    enterprise: bool = False

    def issue(self, number: int, repo: str = "") -> str:
        """A link to an issue that leaves no back-link there (C3); `repo` is OWNER/REPO of another repository.

        GitHub does not recognise the redirecting host as a reference; Dependabot and Renovate use it too. Enterprise
        Server has none, so there the number stands in a code span.
        """
        return self._link(repo, repo or self.repo, "issues", number)

    def discussion(self, number: int) -> str:
        """The same for a discussion."""
        return self._link("", self.repo, _PATHS["discussion"], number)

    def candidate(self, one: Candidate) -> str:
        """The same for a candidate, which may lie in another repository, or be no issue."""
        return self._link(one.repo, one.repo or self.repo, _PATHS[one.kind], one.number)

    def closer(self, closer: Closer) -> str:
        """The same for what closed an issue."""
        if closer.pull:
            return self._link("", self.repo, _PATHS["pull request"], closer.pull)
        named = code(closer.commit[:7])
        address = f"https://redirect.github.com/{quote(self.repo, safe='/')}/commit/{quote(closer.commit)}"
        return named if self.enterprise else f"[{named}]({address})"

    def _link(self, shown: str, repo: str, path: str, number: int) -> str:
        if self.enterprise:
            return code(f"{shown}#{number}")
        return f"[{escape(shown)}#{number}](https://redirect.github.com/{quote(repo, safe='/')}/{path}/{number})"
