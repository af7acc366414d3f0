"""C4, C5: the `/duplicates` commands, as people write them."""

from __future__ import annotations

import pytest

from bot.conversation.commands.parser import parse
from bot.conversation.commands.table import (
    COMMANDS,
    Command,
    CommandName,
    CommandOptions,
    CommandProblem,
    InvalidCommand,
    MisspeltCommand,
    ParsedLine,
    Requirement,
    allowed,
)
from bot.domain.entities import Permission, RepoRef
from bot.platform.addresses import hosts_of

REPO = RepoRef("acme", "app")


def one(body: str, api_url: str = "https://api.github.com") -> ParsedLine:
    (found,) = parse(body, REPO, hosts_of(api_url))
    return found


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("/Duplicates", CommandOptions()),
        ("  /duplicates  ", CommandOptions()),
        ("/duplicates fresh open limit=3", CommandOptions(state="open", limit=3, fresh=True)),
        ("/duplicates all confidence=.7", CommandOptions(state="all", confidence=0.7)),
        ("/duplicates closed threshold=40%", CommandOptions(state="closed", threshold=0.4)),
    ],
)
def test_c4_a_recheck_takes_options(body: str, options: CommandOptions) -> None:
    assert one(body) == Command(CommandName.RECHECK, body.strip(), options=options)


@pytest.mark.parametrize(
    "written",
    [
        "12!",
        "#12.",
        "acme/app#12",
        "https://github.com/acme/app/issues/12",
        "https://redirect.github.com/Acme/App/issues/12",
        "https://github.com/acme/app/issues/12#issuecomment-5",
        "https://github.com/acme/app/pull/12/files?w=1",
    ],
)
def test_c4_an_issue_is_named_in_any_way(written: str) -> None:
    assert one(f"/duplicates OF {written}") == Command(CommandName.OF, f"/duplicates OF {written}", 12)


@pytest.mark.parametrize(
    "body",
    [
        "\N{RIGHT-TO-LEFT MARK}/duplicates not #12",
        "نعم\n\N{RIGHT-TO-LEFT MARK}/duplicates not #12\N{LEFT-TO-RIGHT MARK}",
        "/duplicates not \N{FIRST STRONG ISOLATE}#12\N{POP DIRECTIONAL ISOLATE}",
        "\N{ZERO WIDTH NO-BREAK SPACE}/duplicates not #12",
    ],
)
def test_c4_marks_of_direction_that_nobody_sees_are_no_part_of_a_command(body: str) -> None:
    assert one(body) == Command(CommandName.NOT, "/duplicates not #12", 12)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("／duplicates not #12", "/duplicates not #12"),
        ("はい\n  ／ｄｕｐｌｉｃａｔｅｓ　ｎｏｔ　＃１２", "/duplicates　ｎｏｔ　＃１２"),
        ("/Ｄuplicates not １２", "/Duplicates not １２"),
        ("/duplicates not ａｃｍｅ／ａｐｐ＃１２", "/duplicates not ａｃｍｅ／ａｐｐ＃１２"),
    ],
)
def test_c4_full_width_letters_digits_and_signs_are_those_of_a_command(body: str, line: str) -> None:
    assert one(body) == Command(CommandName.NOT, line, 12)


def test_c4_full_width_signs_are_no_markdown_and_stay_in_a_search() -> None:
    assert one("＞\n／duplicates limit＝３ ａｌｌ") == Command(
        CommandName.RECHECK, "/duplicates limit＝３ ａｌｌ", options=CommandOptions(state="all", limit=3)
    )
    found = one("／duplicates search ｎｕｌｌ（０） ｌｉｍｉｔ＝２")
    assert isinstance(found, Command)
    assert (found.words, found.options) == (("ｎｕｌｌ（０）",), CommandOptions(limit=2))
    for talk in (
        "｀／duplicates｀",
        "> ／duplicates",
        "`\n／duplicates\n`",
        "and／duplicates",
        "／nothing",
        "<!--\n／du--＞\n/duplicates\n-->",
    ):
        assert parse(talk, REPO) == (), talk


@pytest.mark.parametrize(
    ("line", "words", "options"),
    [
        ('search "connection reset" proxy', ("connection reset", "proxy"), CommandOptions()),
        ("search “connection  reset”", ("connection reset",), CommandOptions()),
        ("search «connection reset» proxy", ("connection reset", "proxy"), CommandOptions()),
        ("search 「接続 リセット」 open", ("接続 リセット",), CommandOptions(state="open")),
        ("search 「open」", ("open",), CommandOptions()),
        ('search "say «hi» now" “and then”', ("say «hi» now", "and then"), CommandOptions()),
        ("search `x « y` 「閉じる`", ("x « y", "閉じる"), CommandOptions()),
        ("search ＂connection reset＂", ("connection reset",), CommandOptions()),
        ("search `errno 104` limit=2", ("errno 104",), CommandOptions(limit=2)),
        ("search fails to open a file", ("fails", "to", "open", "a", "file"), CommandOptions()),
        ("search open file open fresh", ("open", "file"), CommandOptions(state="open", fresh=True)),
        ('search cannot "open"', ("cannot", "open"), CommandOptions()),
        ("search limit=2 crash", ("crash",), CommandOptions(limit=2)),
        ("search errno=13 crash", ("errno=13", "crash"), CommandOptions()),
        ('search half "quoted', ("half", "quoted"), CommandOptions()),
        ("search #12 @ann -label:x", ("#12", "@ann", "-label:x"), CommandOptions()),
    ],
)
def test_c4_search_takes_words_and_then_options(line: str, words: tuple[str, ...], options: CommandOptions) -> None:
    found = one(f"/duplicates {line}")
    assert isinstance(found, Command)
    assert (found.words, found.options) == (words, options)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("/duplicates mute <!-- because -->", ["/duplicates mute"]),
        ("/duplicates <!-- a --> not <!-- b --> #1", ["/duplicates not #1"]),
        (
            "/duplicates help <!--\n/duplicates mute\n--> text\n/duplicates not #1",
            ["/duplicates help", "/duplicates not #1"],
        ),
        ("/duplicates search <!-- x", ["/duplicates search <!-- x"]),
        ("/duplicates mute <!-- a -->\n/duplicates help", ["/duplicates mute", "/duplicates help"]),
    ],
)
def test_c4_an_html_comment_is_no_part_of_a_command_and_hides_what_is_in_it(body: str, lines: list[str]) -> None:
    assert [found.line for found in parse(body, REPO)] == lines


@pytest.mark.parametrize(
    "body",
    [
        "no command here, not even about /duplicates",
        "    /duplicates",
        "\t/duplicates",
        "text\n     /duplicates",
        "```\n/duplicates\n```",
        "~~~sh\n/duplicates\n",
        "- ```\n  /duplicates\n  ```",
        "> /duplicates",
        "> quoted\n/duplicates",
        "> \N{NO-BREAK SPACE}\n/duplicates",
        "\N{NO-BREAK SPACE}\n- /duplicates",
        "> - quoted\n>   /duplicates",
        "<!--\n/duplicates",
        "- /duplicates",
        "1. /duplicates",
        "# /duplicates",
        "**/duplicates**",
        "\\/duplicates",
        "/duplicates/and/more",
        "/duplicates-of-this",
        "/duplicatesearch",
        "x/duplicates",
        "/dump",
        "/du -sh",
        "/duplicate #12",
        "/dupe this one",
        "",
    ],
)
def test_c4_what_is_no_command_is_left_alone(body: str) -> None:
    assert parse(body, REPO) == ()


@pytest.mark.parametrize(
    "body",
    [
        "hello\n/duplicates help",
        "hello\n\n   /duplicates help\n\nbye",
        "> quoted\n\n/duplicates help",
        "```\ncode\n```\n/duplicates help",
        "- a list\n/duplicates help",
        "- a list\n  /duplicates help",
        "`one tick\n/duplicates help",
        "text <!-- never closed\n/duplicates help",
        "a\\\n/duplicates help",
        "<details>\n\n/duplicates help\n\n</details>",
        "/duplicates help\n---\nmy signature",
        "hello\r\n/duplicates help\r\nbye",
        "`/duplicates` does it:\n/duplicates help",
        "\N{NO-BREAK SPACE}\n/duplicates help",
        "hello\n\n\N{IDEOGRAPHIC SPACE}\n\N{NO-BREAK SPACE}\n  /duplicates help\nbye",
        "- \N{NO-BREAK SPACE}\n  /duplicates help",
    ],
)
def test_c4_a_command_is_found_among_other_text(body: str) -> None:
    assert one(body) == Command(CommandName.HELP, "/duplicates help")


@pytest.mark.parametrize(
    ("body", "word", "suggestion"),
    [
        ("/duplicates serch crash", "serch", "/duplicates search WORDS…"),
        ("/duplicates exlpain #12", "exlpain", "/duplicates explain #12"),
        ("/duplicates nto #12", "nto", "/duplicates not #12"),
        ("/duplicates umute", "umute", "/duplicates unmute"),
        ("/duplicates frehs", "frehs", "/duplicates fresh"),
        ("/duplicates open limt=3", "limt=3", "/duplicates limit=3"),
        ("/duplicates #12", "#12", "/duplicates explain #12"),
        ("/duplicates xyzzy", "xyzzy", ""),
        ("/duplicate of #12", "/duplicate", "/duplicates of #12"),
        ("/duplicate", "/duplicate", "/duplicates"),
        ("/dupe", "/dupe", "/duplicates"),
        ("/dups help", "/dups", "/duplicates help"),
        ("/duplicats not 3", "/duplicats", "/duplicates not #3"),
    ],
)
def test_c4_a_misspelt_command_gets_the_nearest(body: str, word: str, suggestion: str) -> None:
    assert one(body) == MisspeltCommand(body, word, suggestion)


@pytest.mark.parametrize(
    ("line", "name", "problem", "value"),
    [
        ("not", CommandName.NOT, CommandProblem.NUMBER_MISSING, ""),
        ("not this", CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "this"),
        ("not #0", CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "#0"),
        ("not #-1", CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "#-1"),
        ("not #2147483648", CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "#2147483648"),
        ("not #" + "9" * 400, CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "#" + "9" * 58 + "…"),
        ("not #١٢", CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "#١٢"),
        ("of other/app#1", CommandName.OF, CommandProblem.OTHER_REPOSITORY, "other/app#1"),
        ("explain other/app#1", CommandName.EXPLAIN, CommandProblem.OTHER_REPOSITORY, "other/app#1"),
        ("not other/app#0", CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, "other/app#0"),
        ("not other/app#1 #2", CommandName.NOT, CommandProblem.TOO_MUCH, "#2"),
        (
            "not https://g.it/a/b/issues/1",
            CommandName.NOT,
            CommandProblem.OTHER_REPOSITORY,
            "https://g.it/a/b/issues/1",
        ),
        ("not #1 #2", CommandName.NOT, CommandProblem.TOO_MUCH, "#2"),
        ("mute forever", CommandName.MUTE, CommandProblem.TOO_MUCH, "forever"),
        ("search", CommandName.SEARCH, CommandProblem.WORDS_MISSING, ""),
        ('search "" fresh', CommandName.SEARCH, CommandProblem.WORDS_MISSING, ""),
        ("search " + "x" * 201, CommandName.SEARCH, CommandProblem.WORDS_TOO_LONG, ""),
        ("search x limit=0", CommandName.SEARCH, CommandProblem.OPTION_VALUE, "limit=0"),
        ("limit=11", CommandName.RECHECK, CommandProblem.OPTION_VALUE, "limit=11"),
        ("confidence=2", CommandName.RECHECK, CommandProblem.OPTION_VALUE, "confidence=2"),
        ("confidence=nan", CommandName.RECHECK, CommandProblem.OPTION_VALUE, "confidence=nan"),
        ("threshold=", CommandName.RECHECK, CommandProblem.OPTION_VALUE, "threshold="),
        ("threshold=101%", CommandName.RECHECK, CommandProblem.OPTION_VALUE, "threshold=101%"),
    ],
)
def test_c4_what_cannot_be_done_as_written_is_said(
    line: str, name: CommandName, problem: CommandProblem, value: str
) -> None:
    assert one(f"/duplicates {line}") == InvalidCommand(f"/duplicates {line}", name, problem, value)


@pytest.mark.parametrize(
    ("api_url", "address", "here"),
    [
        ("https://git.acme.org/api/v3", "https://Git.Acme.org/acme/app/issues/12", True),
        ("https://git.acme.org/api/v3", "https://git.acme.org/api/v3/repos/acme/app/issues/12", True),
        ("https://git.acme.org/api/v3", "https://git.acme.org:443/acme/app/issues/12", True),
        ("https://api.acme.ghe.com", "https://acme.ghe.com/acme/app/issues/12", True),
        ("https://api.acme.ghe.com", "https://api.acme.ghe.com/repos/acme/app/issues/12", True),
        ("https://api.github.com", "https://api.github.com/repos/acme/app/issues/12", True),
        ("https://api.github.com", "https://www.github.com/acme/app/issues/12", True),
        ("http://127.0.0.1:3100", "http://127.0.0.1:3100/acme/app/issues/12", True),
        ("http://127.0.0.1:3100", "http://127.0.0.1:3100/repos/acme/app/issues/12", True),
        ("http://127.0.0.1:3100", "https://github.com/acme/app/issues/12", True),
        ("http://127.0.0.1:3100", "https://redirect.github.com/acme/app/issues/12", True),
        ("https://git.acme.org/api/v3", "https://github.com/acme/app/issues/12", False),
        ("https://git.acme.org/api/v3", "https://api.git.acme.org/acme/app/issues/12", False),
        ("https://api.acme.ghe.com", "https://other.ghe.com/acme/app/issues/12", False),
        ("https://api.acme.ghe.com", "https://github.com/acme/app/issues/12", False),
        ("https://api.github.com", "https://acme.ghe.com/acme/app/issues/12", False),
        ("https://api.github.com", "https://api.github.com/repos/acme/other/issues/12", False),
        ("http://127.0.0.1:3100", "http://127.0.0.1:3101/acme/app/issues/12", False),
        ("http://127.0.0.1:3100/api/v3", "https://github.com/acme/app/issues/12", False),
        ("http://127.0.0.1:3100", "http://127.0.0.1:3100@evil.example/acme/app/issues/12", False),
    ],
)
def test_c4_the_address_of_an_issue_is_taken_on_this_github_alone(api_url: str, address: str, here: bool) -> None:
    match one(f"/duplicates of {address}", api_url):
        case Command(number=number):
            assert (number, here) == (12, True)
        case found:
            assert isinstance(found, InvalidCommand)
            assert (found.problem, here) == (CommandProblem.OTHER_REPOSITORY, False)


@pytest.mark.parametrize("written", ["Acme/Lib#12", "https://github.com/Acme/Lib/issues/12#issuecomment-1"])
def test_c4_not_takes_an_issue_of_another_repository(written: str) -> None:
    found = one(f"/duplicates not {written}")
    assert isinstance(found, Command)
    assert (found.name, found.repo, found.number) == (CommandName.NOT, "Acme/Lib", 12)


def test_c4_a_comment_can_hold_several_commands_but_not_any_number() -> None:
    found = parse("/duplicates not #1\ntext\n\n/duplicates mute\n", REPO)
    assert [command.name for command in found if isinstance(command, Command)] == [CommandName.NOT, CommandName.MUTE]
    found = parse("".join(f"/duplicates not #{number}\n" for number in range(1, 10)), REPO)
    assert len(found) == 6
    assert found[5] == InvalidCommand("/duplicates not #6", CommandName.RECHECK, CommandProblem.TOO_MANY)
    assert parse("/duplicates help\n" * 9, REPO) == (Command(CommandName.HELP, "/duplicates help"),)


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.syntax)
def test_c4_the_table_is_what_the_parser_reads(row: object) -> None:
    """Every row's own syntax, filled in, is read as that row's command."""
    found = one(row.syntax.replace("#N", "#7"))  # type: ignore[attr-defined]
    assert isinstance(found, Command)
    assert found.spec is row


@pytest.mark.parametrize(
    ("permission", "author", "expected"),
    [
        (Permission(), False, {Requirement.ANYONE}),
        (Permission(pull=True), True, {Requirement.ANYONE, Requirement.AUTHOR_OR_TRIAGE}),
        (Permission(triage=True), False, {Requirement.ANYONE, Requirement.AUTHOR_OR_TRIAGE, Requirement.TRIAGE}),
        (Permission(push=True), False, {Requirement.ANYONE, Requirement.AUTHOR_OR_TRIAGE, Requirement.TRIAGE}),
        (Permission(maintain=True), False, set(Requirement)),
        (Permission(admin=True), False, set(Requirement)),
    ],
)
def test_c5_a_role_includes_the_lower_ones(permission: Permission, author: bool, expected: set[Requirement]) -> None:
    assert {who for who in Requirement if allowed(who, permission, author)} == expected
