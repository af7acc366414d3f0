"""Parses the commands of a comment, and suggests the nearest one for a misspelt line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.conversation.commands.table import (
    ALIASES,
    COMMAND,
    COMMANDS,
    COMMANDS_BY_NAME,
    OPTIONS,
    SHORT_COMMAND,
    Arguments,
    Command,
    CommandName,
    CommandOptions,
    CommandProblem,
    CommandSpec,
    InvalidCommand,
    MisspeltCommand,
    ParsedLine,
)
from bot.conversation.commands.visible_lines import MARKS, command_lines
from bot.domain.entities import NUMBER_MAX, PLACE, RepoRef, name_key
from bot.platform.addresses import GITHUB_HOSTS, ISSUE, host_of
from bot.text.titles import plain

LIMIT_MAX = 10

_NUMBER = re.compile(r"#?([0-9]{1,12})")
_FULL = re.compile(rf"({PLACE})#([0-9]{{1,12}})")


@dataclass(frozen=True, slots=True)
class CommentRepository:
    """The repository of a comment; `hosts` are those of its GitHub (`bot.platform.addresses.hosts_of`)."""

    repo: RepoRef
    hosts: frozenset[str]

    def number(self, word: str) -> int | CommandProblem:
        """The number of an issue of this repository, written in any form that `issue` reads."""
        named = self.issue(word)
        if isinstance(named, CommandProblem):
            return named
        return CommandProblem.OTHER_REPOSITORY if named[0] else named[1]

    def issue(self, word: str) -> tuple[str, int] | CommandProblem:
        """Read `#12`, `12`, `owner/repo#12` or the address of an issue, pull request or discussion.

        The first part is `owner/repo` of another repository, else empty.
        """
        word = plain(word).rstrip(".,;:!")
        where, is_here = str(self.repo), True
        if match := _NUMBER.fullmatch(word):
            digits = match[1]
        elif match := _FULL.fullmatch(word):
            where, digits = match[1], match[2]
        elif match := ISSUE.fullmatch(word):
            is_here, where, digits = host_of(match[1]) in self.hosts, match[2], match[3]
        else:
            return CommandProblem.NUMBER_UNREADABLE
        if not is_here:
            return CommandProblem.OTHER_REPOSITORY
        if not 1 <= int(digits) <= NUMBER_MAX:
            return CommandProblem.NUMBER_UNREADABLE
        return "" if name_key(where) == self.repo.key else where, int(digits)


def read_option(word: str, options: CommandOptions) -> CommandOptions | CommandProblem | None:
    """`options` with this one added; None if `word` is no option."""
    word = plain(word).lower()
    if word in ("open", "closed", "all"):
        return replace(options, state=word)  # type: ignore[arg-type]
    if word == "fresh":
        return replace(options, fresh=True)
    key, equals, value = word.partition("=")
    if not equals or key not in ("confidence", "threshold", "limit"):
        return None
    if key == "limit":
        limit = int(value) if re.fullmatch(r"[0-9]{1,3}", value) else 0
        return replace(options, limit=limit) if 1 <= limit <= LIMIT_MAX else CommandProblem.OPTION_VALUE
    share = _share(value)
    if share is None:
        return CommandProblem.OPTION_VALUE
    return replace(options, confidence=share) if key == "confidence" else replace(options, threshold=share)


def _share(text: str) -> float | None:
    """A number from 0 to 1, or as a percentage."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})(%?)", text)
    if match is None:
        return None
    value = float(match[1]) / (100 if match[2] else 1)
    return value if value <= 1 else None


COMMANDS_MAX = 5
"""The most commands of one comment; a longer list is a mistake or an attack."""

WORDS_MAX = 200
"""The most characters of a search's words, as for titles (F3)."""


def parse(body: str, repo: RepoRef, hosts: frozenset[str] = GITHUB_HOSTS, app: str = "") -> tuple[ParsedLine, ...]:
    """Read the commands of a comment in `repo`, each line once.

    `hosts` are those of its GitHub (`bot.platform.addresses.hosts_of`); `app` is the App's name, if the comment may use
    it. After `COMMANDS_MAX` commands an `InvalidCommand` with TOO_MANY ends the list.
    """
    here = CommentRepository(repo, hosts)
    found: list[ParsedLine] = []
    for line in dict.fromkeys(command_lines(body, app)):
        parsed = _line(line, here)
        if parsed is None:
            continue
        if len(found) == COMMANDS_MAX:
            found.append(InvalidCommand(_short(line), CommandName.RECHECK, CommandProblem.TOO_MANY))
            break
        found.append(parsed)
    return tuple(found)


def _line(line: str, here: CommentRepository) -> ParsedLine | None:
    word, *rest = line.split()
    if word.startswith("@"):
        # `command_lines` has checked the App's name.
        word, rest = COMMAND, rest[1:]
    if [plain(one).lower() for one in rest[:2]] == ["duplicate", "of"]:
        rest = rest[1:]
    head = plain(rest[0]).lower().rstrip(".,;:!") if rest else ""
    row = COMMANDS_BY_NAME[ALIASES.get(head) or CommandName(head)] if head in _KNOWN else None
    if word.lower() == SHORT_COMMAND and (row or not rest or read_option(rest[0], CommandOptions())):
        word = COMMAND
    if plain(word).lower().rstrip(MARKS) == COMMAND != word.lower():
        return _with_mark(line, word, rest, here)
    if word.lower() != COMMAND:
        return _other_word(line, word, row, rest, here)
    if row is None or row.takes is Arguments.OPTIONS:
        return _recheck(line, rest, here)
    if row.takes is Arguments.NUMBER:
        return _with_number(line, row, rest[1:], here)
    if row.takes is Arguments.WORDS:
        return _search(line, row, line.split(None, 3 if line.startswith("@") else 2)[-1] if rest[1:] else "")
    return (
        InvalidCommand(line, row.name, CommandProblem.TOO_MUCH, _short(rest[1]))
        if rest[1:]
        else Command(row.name, line)
    )


def _with_mark(line: str, word: str, rest: Sequence[str], here: CommentRepository) -> MisspeltCommand | None:
    """`/duplicates, help` and the like: a misspelt command, if it would be one without the mark.

    `/duplicates: #12, #13` is a list of duplicates, and a line that ends in a colon may begin one.
    """
    meant = _line(" ".join((COMMAND, *rest)), here)
    unfinished = not rest and plain(word[-1]) in ",;:、"
    if unfinished or not isinstance(meant, Command):
        return None
    return MisspeltCommand(line, _short(word), _suggest(meant.row, rest, here))


def _other_word(
    line: str, word: str, row: CommandSpec | None, rest: Sequence[str], here: CommentRepository
) -> MisspeltCommand | None:
    """`/duplicate`, `/dupes` and the like: other bots may own these, so only clear cases are answered."""
    near = word.lower() in (SHORT_COMMAND, "/dups", "/dupe", "/dupes") or OSA.distance(word.lower(), COMMAND) <= 2
    if not near or (rest and row is None):
        return None
    return MisspeltCommand(line, _short(word), _suggest(row or COMMANDS_BY_NAME[CommandName.RECHECK], rest, here))


def _recheck(line: str, words: Sequence[str], here: CommentRepository) -> ParsedLine:
    options = CommandOptions()
    for at, word in enumerate(words):
        read = read_option(word, options)
        if isinstance(read, CommandOptions):
            options = read
        elif read is CommandProblem.OPTION_VALUE:
            return InvalidCommand(line, CommandName.RECHECK, read, _short(word))
        else:
            return MisspeltCommand(line, _short(word), _meant(word, words[at:], here))
    return Command(CommandName.RECHECK, line, options=options)


def _meant(word: str, words: Sequence[str], here: CommentRepository) -> str:
    """The command that an unknown word was probably meant for; empty if none is near."""
    if isinstance(here.number(word), int):
        return _suggest(COMMANDS_BY_NAME[CommandName.EXPLAIN], ["", word], here)
    word = word[:40].lower().rstrip(".,;:!")
    bare = word.partition("=")[0]
    # `close #12` is not meant for `closed`: no option is followed by an issue.
    near = _NAMES if len(words) > 1 and isinstance(here.number(words[1]), int) else list(_SUGGESTIBLE)
    found = process.extractOne(bare, near, scorer=OSA.normalized_similarity, score_cutoff=0.5)
    if found is None:
        return ""
    if found[0] in _NAMES:
        return _suggest(COMMANDS_BY_NAME[CommandName(found[0])], words, here)
    return f"{COMMAND} {_SUGGESTIBLE[found[0]]}"


def _suggest(row: CommandSpec, words: Sequence[str], here: CommentRepository) -> str:
    """The command's syntax with the number that was given, and nothing else of the comment."""
    number = here.number(words[1]) if row.takes is Arguments.NUMBER and len(words) > 1 else None
    return row.syntax.replace("#N", f"#{number}") if isinstance(number, int) else row.syntax


def _with_number(
    line: str, row: CommandSpec, words: Sequence[str], here: CommentRepository
) -> Command | InvalidCommand:
    if not words:
        return InvalidCommand(line, row.name, CommandProblem.NUMBER_MISSING)
    named = here.issue(words[0])
    if isinstance(named, CommandProblem):
        return InvalidCommand(line, row.name, named, _short(words[0]))
    repo, number = named
    if repo and not row.elsewhere:
        return InvalidCommand(line, row.name, CommandProblem.OTHER_REPOSITORY, _short(words[0]))
    if len(words) > 1:
        return InvalidCommand(line, row.name, CommandProblem.TOO_MUCH, _short(words[1]))
    return Command(row.name, line, number, repo=repo)


# Quotation marks of all languages of the bot, and quoted parts that may contain them.
_QUOTES = re.compile(r'"[^"]*"|`[^`]*`|[“”„«»「」『』＂]')
# A quoted part, by straight quotes or backticks, or a word. No part can be matched in two ways.
_PART = re.compile(r'"([^"]*)"|`([^`]*)`|([^\s"`]+)')


def _search(line: str, row: CommandSpec, asked: str) -> Command | InvalidCommand:
    """Read `search WORDS… OPTIONS`; `asked` follows the command's word.

    People also search for words like `open`, so a bare option counts only at the end, and never in quotes.
    """
    text = _QUOTES.sub(lambda found: found[0] if len(found[0]) > 1 else '"', asked)
    parts = [(match[0], (match[1] or match[2] or match[3] or "").strip()) for match in _PART.finditer(text)]
    options, words, ending = CommandOptions(), [], True
    for raw, word in reversed(parts):
        read = read_option(raw, options) if ending or "=" in raw else None
        if isinstance(read, CommandOptions):
            options = read
        elif read is CommandProblem.OPTION_VALUE:
            return InvalidCommand(line, row.name, read, _short(raw))
        else:
            ending = False
            words.append(" ".join(word.split()))
    words = [word for word in reversed(words) if word]
    if not words:
        return InvalidCommand(line, row.name, CommandProblem.WORDS_MISSING)
    if len(" ".join(words)) > WORDS_MAX:
        return InvalidCommand(line, row.name, CommandProblem.WORDS_TOO_LONG)
    return Command(row.name, line, words=tuple(words), options=options)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


_NAMES = [row.name.value for row in COMMANDS if row.name]
_KNOWN = {*_NAMES, *ALIASES}
_SUGGESTIBLE = {name: name for name in _NAMES}
_SUGGESTIBLE |= {option.partition("=")[0]: option for option in OPTIONS}
