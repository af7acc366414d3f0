"""Parses the commands of a comment, and suggests the nearest command for a misspelt line."""

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
from bot.domain.entities import NUMBER_MAX, OWNER_REPO, RepoRef, name_key
from bot.platform.addresses import GITHUB_HOSTS, ISSUE, host_of
from bot.text.titles import plain

LIMIT_MAX = 10

# `#12` or `12`, and `owner/repo#12`.
_NUMBER = re.compile(r"#?([0-9]{1,12})")
_WITH_REPOSITORY = re.compile(rf"({OWNER_REPO})#([0-9]{{1,12}})")


@dataclass(frozen=True, slots=True)
class CommentRepository:
    """The repository of a comment. `hosts` are the host names of its GitHub (`bot.platform.addresses.hosts_of`)."""

    repo: RepoRef
    hosts: frozenset[str]

    def number(self, word: str) -> int | CommandProblem:
        """The number of an issue of this repository, written in any form that `issue` reads."""
        parsed = self.issue(word)
        if isinstance(parsed, CommandProblem):
            return parsed
        other_repo, number = parsed
        return CommandProblem.OTHER_REPOSITORY if other_repo else number

    def issue(self, word: str) -> tuple[str, int] | CommandProblem:
        """Read `#12`, `12`, `owner/repo#12` or the address of an issue, pull request or discussion.

        Returns `owner/repo` and the number. For the comment's repository, `owner/repo` is empty.
        """
        word = plain(word).rstrip(".,;:!")
        where, same_github = str(self.repo), True
        if match := _NUMBER.fullmatch(word):
            digits = match[1]
        elif match := _WITH_REPOSITORY.fullmatch(word):
            where, digits = match[1], match[2]
        elif match := ISSUE.fullmatch(word):
            same_github, where, digits = host_of(match[1]) in self.hosts, match[2], match[3]
        else:
            return CommandProblem.NUMBER_UNREADABLE
        if not same_github:
            return CommandProblem.OTHER_REPOSITORY
        if not 1 <= int(digits) <= NUMBER_MAX:
            return CommandProblem.NUMBER_UNREADABLE
        return ("" if name_key(where) == self.repo.key else where), int(digits)


def read_option(word: str, options: CommandOptions) -> CommandOptions | CommandProblem | None:
    """`options` with the option `word` added, or OPTION_VALUE if its value is wrong; None if `word` is no option."""
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
    fraction = _fraction(value)
    if fraction is None:
        return CommandProblem.OPTION_VALUE
    return replace(options, confidence=fraction) if key == "confidence" else replace(options, threshold=fraction)


def _fraction(text: str) -> float | None:
    """`0.3`, `.3` or `30%` as a number from 0 to 1; None for anything else."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})(%?)", text)
    if match is None:
        return None
    value = float(match[1]) / (100 if match[2] else 1)
    return value if value <= 1 else None


COMMANDS_MAX = 5
"""The most commands in one comment; a longer list is a mistake or an attack."""

WORDS_MAX = 200
"""The most characters in the words of a search, as for the keywords of an issue (F3)."""


def parse(body: str, repo: RepoRef, hosts: frozenset[str] = GITHUB_HOSTS, app: str = "") -> tuple[ParsedLine, ...]:
    """Read the commands of a comment in `repo`; a repeated line counts once.

    `hosts` are the host names of the repository's GitHub (`bot.platform.addresses.hosts_of`). `app` is the App's name,
    empty if comments cannot mention the App. If there are more than `COMMANDS_MAX` commands, one `InvalidCommand` with
    TOO_MANY stands for the rest.
    """
    here = CommentRepository(repo, hosts)
    found: list[ParsedLine] = []
    for line in dict.fromkeys(command_lines(body, app)):
        parsed = _parse_line(line, here)
        if parsed is None:
            continue
        if len(found) == COMMANDS_MAX:
            found.append(InvalidCommand(_shorten(line), CommandName.RECHECK, CommandProblem.TOO_MANY))
            break
        found.append(parsed)
    return tuple(found)


def _parse_line(line: str, here: CommentRepository) -> ParsedLine | None:
    word, *rest = line.split()
    if word.startswith("@"):
        # `@doppel duplicates …` means `/duplicates …`. `command_lines` has already compared the App's name.
        word, rest = COMMAND, rest[1:]
    if [plain(part).lower() for part in rest[:2]] == ["duplicate", "of"]:
        rest = rest[1:]
    head = plain(rest[0]).lower().rstrip(".,;:!") if rest else ""
    spec = _SPECS.get(head)
    # Other bots may use `/dup`: it counts only alone, or before a known word or an option.
    if word.lower() == SHORT_COMMAND and (spec or not rest or read_option(rest[0], CommandOptions())):
        word = COMMAND
    if word.lower() != COMMAND:
        if plain(word).lower().rstrip(MARKS) == COMMAND:
            return _with_punctuation(line, word, rest, here)
        return _other_word(line, word, spec, rest, here)
    if spec is None:
        return _recheck(line, rest, here)
    if spec.takes is Arguments.NUMBER:
        return _with_number(line, spec, rest[1:], here)
    if spec.takes is Arguments.WORDS:
        words_before = 3 if line.startswith("@") else 2  # `@doppel duplicates search` or `/duplicates search`
        return _search(line, spec, line.split(None, words_before)[-1] if rest[1:] else "")
    if rest[1:]:
        return InvalidCommand(line, spec.name, CommandProblem.TOO_MUCH, _shorten(rest[1]))
    return Command(spec.name, line)


def _with_punctuation(line: str, word: str, rest: Sequence[str], here: CommentRepository) -> MisspeltCommand | None:
    """`/duplicates, help` and the like: a misspelt command, if the line would be a command without the punctuation.

    None for `/duplicates: #12, #13`, a list of duplicates, and for `/duplicates:`, perhaps the line above a list.
    """
    meant = _parse_line(" ".join((COMMAND, *rest)), here)
    may_introduce_list = not rest and plain(word[-1]) in ",;:、"
    if may_introduce_list or not isinstance(meant, Command):
        return None
    return MisspeltCommand(line, _shorten(word), _suggested_syntax(meant.spec, rest, here))


def _other_word(
    line: str, word: str, spec: CommandSpec | None, rest: Sequence[str], here: CommentRepository
) -> MisspeltCommand | None:
    """`/duplicate`, `/dupes` and the like. Other bots may use these words, so only clear cases count as misspelt."""
    similar = word.lower() in (SHORT_COMMAND, "/dups", "/dupe", "/dupes") or OSA.distance(word.lower(), COMMAND) <= 2
    if not similar or (rest and spec is None):
        return None
    return MisspeltCommand(
        line, _shorten(word), _suggested_syntax(spec or COMMANDS_BY_NAME[CommandName.RECHECK], rest, here)
    )


def _recheck(line: str, words: Sequence[str], here: CommentRepository) -> ParsedLine:
    options = CommandOptions()
    for at, word in enumerate(words):
        parsed = read_option(word, options)
        if isinstance(parsed, CommandOptions):
            options = parsed
        elif parsed is CommandProblem.OPTION_VALUE:
            return InvalidCommand(line, CommandName.RECHECK, parsed, _shorten(word))
        else:
            return MisspeltCommand(line, _shorten(word), _likely_meant(word, words[at:], here))
    return Command(CommandName.RECHECK, line, options=options)


def _likely_meant(word: str, words: Sequence[str], here: CommentRepository) -> str:
    """The command that the author of an unknown word probably meant; empty if none is similar. `word` is `words[0]`."""
    if isinstance(here.number(word), int):
        # Whoever writes a number here probably wants `explain`.
        return _suggested_syntax(COMMANDS_BY_NAME[CommandName.EXPLAIN], ["explain", word], here)
    word = word[:40].lower().rstrip(".,;:!")
    bare = word.partition("=")[0]
    # An option has no issue number after it, so `clos #12` can mean only a command, not the option `closed`.
    candidates = _NAMES if len(words) > 1 and isinstance(here.number(words[1]), int) else list(_SUGGESTIBLE)
    found = process.extractOne(bare, candidates, scorer=OSA.normalized_similarity, score_cutoff=0.5)
    if found is None:
        return ""
    if found[0] in _NAMES:
        return _suggested_syntax(COMMANDS_BY_NAME[CommandName(found[0])], words, here)
    return f"{COMMAND} {_SUGGESTIBLE[found[0]]}"


def _suggested_syntax(spec: CommandSpec, words: Sequence[str], here: CommentRepository) -> str:
    """The command's syntax. An issue number in `words[1]` replaces `#N`. No other text of the comment appears."""
    number = here.number(words[1]) if spec.takes is Arguments.NUMBER and len(words) > 1 else None
    return spec.syntax.replace("#N", f"#{number}") if isinstance(number, int) else spec.syntax


def _with_number(
    line: str, spec: CommandSpec, words: Sequence[str], here: CommentRepository
) -> Command | InvalidCommand:
    if not words:
        return InvalidCommand(line, spec.name, CommandProblem.NUMBER_MISSING)
    parsed = here.issue(words[0])
    if isinstance(parsed, CommandProblem):
        return InvalidCommand(line, spec.name, parsed, _shorten(words[0]))
    other_repo, number = parsed
    if other_repo and not spec.elsewhere:
        return InvalidCommand(line, spec.name, CommandProblem.OTHER_REPOSITORY, _shorten(words[0]))
    if len(words) > 1:
        return InvalidCommand(line, spec.name, CommandProblem.TOO_MUCH, _shorten(words[1]))
    return Command(spec.name, line, number, repo=other_repo)


# Typographic quotation marks become `"`. A part between straight quotes or backticks matches first, and stays as it is.
_QUOTES = re.compile(r'(?P<complete>"[^"]*"|`[^`]*`)|[“”„«»「」『』＂]')
# A part in straight quotes or backticks, or a word. No text can match in two ways, so matching takes linear time.
_WORD_OR_QUOTED = re.compile(r'"([^"]*)"|`([^`]*)`|([^\s"`]+)')


def _search(line: str, spec: CommandSpec, arguments: str) -> Command | InvalidCommand:
    """Read `search WORDS… OPTIONS`; `arguments` is the text after `search`.

    People also search for words like `open`, so options without `=` count only at the end, and never in quotes.
    """
    text = _QUOTES.sub(lambda found: found["complete"] or '"', arguments)
    parts = [(match[0], (match[1] or match[2] or match[3] or "").strip()) for match in _WORD_OR_QUOTED.finditer(text)]
    options, words, at_end = CommandOptions(), [], True
    for raw, word in reversed(parts):
        parsed = read_option(raw, options) if at_end or "=" in raw else None
        if isinstance(parsed, CommandOptions):
            options = parsed
        elif parsed is CommandProblem.OPTION_VALUE:
            return InvalidCommand(line, spec.name, parsed, _shorten(raw))
        else:
            at_end = False
            words.append(" ".join(word.split()))
    words = [word for word in reversed(words) if word]
    if not words:
        return InvalidCommand(line, spec.name, CommandProblem.WORDS_MISSING)
    if len(" ".join(words)) > WORDS_MAX:
        return InvalidCommand(line, spec.name, CommandProblem.WORDS_TOO_LONG)
    return Command(spec.name, line, words=tuple(words), options=options)


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


_NAMES = [spec.name.value for spec in COMMANDS if spec.name]
_SPECS = {word: COMMANDS_BY_NAME[CommandName(ALIASES.get(word, word))] for word in (*_NAMES, *ALIASES)}
# The text to suggest after `/duplicates` for each name or option; some options have an example value.
_SUGGESTIBLE = {name: name for name in _NAMES}
_SUGGESTIBLE |= {option.partition("=")[0]: option for option in OPTIONS}
