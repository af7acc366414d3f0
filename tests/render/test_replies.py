"""C4, C5: the replies to commands."""

# Sentences are compared as a whole, and read best on one line.
# ruff: noqa: E501

from __future__ import annotations

import pytest
from hypothesis import given

from bot.conversation.commands.parser import parse
from bot.conversation.commands.table import (
    COMMANDS,
    OPTIONS,
    CommandName,
    CommandProblem,
    InvalidCommand,
    MisspeltCommand,
)
from bot.conversation.config.parser import parse_config
from bot.conversation.marker import ADVICE, is_reply_to
from bot.conversation.messages.catalogue import english
from bot.conversation.render.comment import explain
from bot.conversation.render.details import source_name
from bot.conversation.render.escape import RepoLinks, code
from bot.conversation.render.phrases import command_words, help_text, option_words
from bot.conversation.render.replies import Replies, render_reply
from bot.domain.entities import BODY_MAX, RepoRef
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.report import QueryRun, Reason, ReasonCode
from tests.render.reading import PHRASE, read
from tests.render.samples import QUERY, candidate, report
from tests.render.test_escape import HOSTILE

PLACE = RepoLinks("acme/app")
SAY = english()
replies = Replies(SAY, PLACE)
L12 = "[#12](https://redirect.github.com/acme/app/issues/12)"
L7 = "[#7](https://redirect.github.com/acme/app/issues/7)"

TEXTS = [
    (replies.noted_different(12), f"Noted: this issue and {L12} are different. Neither will be shown on the other again."),
    (replies.noted_different(12, already=True), f"This issue and {L12} were already noted as different."),
    (replies.closed_for(12, 12), f"Closed: the discussion continues in {L12}."),
    (replies.closed_for(12, 7), f"Closed. {L12} leads to {L7}: the discussion continues there."),
    (replies.closed_for(12, 7, closed=True), f"Closed in favour of {L7}, which is closed itself. If the problem is still there, please say so here."),
    (replies.refused_root(12, 12, "No."), "No."),
    (replies.refused_root(12, 7, "No."), f"{L12} was closed as a duplicate and leads to {L7}. No."),
    (replies.undone_not(12), f"Taken back: {L12} can be shown on this issue again."),
    (replies.undone_of(12), f"Taken back: this issue is open again and no longer linked to {L12}."),
    (replies.undone_of(12, reopened=False), f"Taken back: this issue is no longer linked to {L12}. It stays closed, as it was before."),
    (replies.scan_begun(1200, 52.0, "Groups", None), "Looking through 1,200 open issues in the background, which takes about 52 seconds. The result will be in an issue of its own, “Groups”."),
    (replies.scan_begun(1200, 300.0, "Groups", 12), f"Looking through 1,200 open issues in the background, which takes about 5 minutes. The result will be in {L12}."),
    (replies.scan_not_ready(1200, None), "I am still reading this repository's issues (1,200 of about ?). Please give the command again when that is done."),
    (replies.scan_not_ready(None, None), "I have not started to read this repository's issues yet. Please give the command again later."),
    (replies.github_refused("Issues are disabled."), "GitHub did not let me do that: Issues are disabled. An administrator can see what this App may do in the repository's settings, under GitHub Apps. Then give the command again in a new comment."),
    (replies.rate_limited(3, 0.2), "That is a lot at once: each person can give 3 commands per 2 seconds. Please try again in 2 seconds."),
    (replies.rate_limited(3, 45), "That is a lot at once: each person can give 3 commands per 45 seconds. Please try again in 45 seconds."),
    (replies.rate_limited(20, 600), "That is a lot at once: each person can give 20 commands per 10 minutes. Please try again in 10 minutes."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=lambda text: text[:30])
def test_c4_what_is_replied(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/duplicates serch x", "`serch` is not something I know. Did you mean `/duplicates search WORDS…`?"),
        ("/duplicates xyzzy", "`xyzzy` is not something I know. `/duplicates help` lists what I do."),
        ("/duplicates serch 404", "`serch` is not something I know. Did you mean `/duplicates search WORDS…`?"),
        ("/duplicates closd", "`closd` is not something I know. Did you mean `/duplicates closed`?"),
        ("/duplicate of #12", "`/duplicate` is not something I know. Did you mean `/duplicates of #12`?"),
        ("/duplicates not", "Which issue? Write `/duplicates not #N` with its number."),
        ("/duplicates not x", "`x` is not the number of an issue. Write `/duplicates not #N` with its number."),
        ("/duplicates of b/c#1", "`b/c#1` is in another repository. This command only takes issues of this one."),
        ("/duplicates search", "Search for what? Write `/duplicates search WORDS…`."),
        ("/duplicates search " + "x" * 201, "That is too long to search for: at most 200 characters."),
        (
            "/duplicates limit=x",
            "`limit=x` does not work: `limit` takes 1 to 10, `confidence` and `threshold` take 0 to 1. Write, for example, `confidence=0.1` `threshold=0.4` `limit=3`.",
        ),
        ("/duplicates undo it", "I do not understand `it` there. Write `/duplicates undo`."),
        (
            "".join(f"/duplicates not #{number}\n" for number in range(1, 7)),
            "Only the first 5 commands of a comment are carried out.",
        ),
    ],
)
def test_c4_a_command_that_is_wrong_is_answered_with_what_is_right(line: str, expected: str) -> None:
    found = parse(line, RepoRef("acme", "app"))[-1]
    assert not hasattr(found, "options")
    assert (replies.misspelt(found) if isinstance(found, MisspeltCommand) else replies.invalid(found)) == expected


@pytest.mark.parametrize("problem", CommandProblem)
def test_every_problem_has_a_text(problem: CommandProblem) -> None:
    assert replies.invalid(InvalidCommand("/duplicates not", CommandName.NOT, problem, "x"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (CommandName.NOT, "`/duplicates not #N` is for the issue's author, and people with triage access."),
        (CommandName.OF, "`/duplicates of #N` is for the issue's author, and people with triage access."),
        (CommandName.SCAN, "`/duplicates scan` is for people with triage access."),
    ],
)
def test_c5_who_may_is_said_to_those_who_may_not(name: CommandName, expected: str) -> None:
    assert replies.forbidden(next(row for row in COMMANDS if row.name is name)) == expected


def test_c4_help_is_made_from_the_table() -> None:
    text = help_text(SAY)
    for row in COMMANDS:
        assert f"\n- `{row.syntax}` – {command_words(row.name, SAY)}" in text
    assert "Each person can give 20 commands per 60 minutes in all repositories of an owner together; every" in text
    for option in OPTIONS:
        assert f"\n- `{option}` – {option_words(option, SAY)}" in text
    assert (
        "Close this as a duplicate. If that one is a duplicate too, its oldest open original is used. "
        "(For the issue's author, and people with triage access.)" in text
    )
    assert not PHRASE.search(text)


EXPLAINED = f"""\
**{L12}** Crash when pasting an image

- Open
- Titles 64% alike
- All evidence together: likely the same (78%)
- Same error text: “RangeError”
- Found by: GitHub's search, the semantic index

The searches that found it:

- `repo:acme/app is:issue crash paste` – 12 results (GitHub's search)"""


def test_c4_explain_says_how_two_issues_compare() -> None:
    other = candidate(
        12,
        confidence=0.78,
        reasons=(Reason(ReasonCode.MESSAGE, ("RangeError",)),),
        sources=("github-search", "vectors"),
    )
    result = report(other, queries=(QUERY, QueryRun("github-hybrid", "crash", 3)))
    assert explain(result, other, PLACE, SAY) == EXPLAINED


def test_c4_explain_of_an_issue_that_no_search_found() -> None:
    text = explain(report(), candidate(12, "Something else", sources=()), PLACE, SAY)
    assert "- No shared error text, identifier or rare word\n" in text
    assert "- There is no probability yet; candidates are ranked by the evidence\n" in text
    assert text.endswith("- None of the searches found it")


def test_f9_explain_says_which_source_failed() -> None:
    text = explain(
        report(problems=(SourceProblem("github-hybrid", RemarkCode.OTHERS.of("no answer")),)),
        candidate(12, sources=()),
        PLACE,
        SAY,
    )
    assert text.endswith("- None of the searches found it\n\n**What did not work**\n\n- github-hybrid: no answer")


def test_c6_settings_problems_are_listed_with_line_column_and_hint() -> None:
    _, problems = parse_config("mode: off\nmin_confidance: 1\nlabel: <b>\n")
    assert replies.settings_problems(problems, "acme/app/.github/doppel.yml") == (
        "The settings in `acme/app/.github/doppel.yml` have problems. Valid settings apply; the others keep their defaults.\n\n"
        '- line 2, column 1: there is no setting called "min_confidance"; did you mean `min_confidence`?\n'
        '- line 3, column 8: "&lt;b&gt;" is not suggest, add or off'
    )
    many = parse_config("\n".join(f"x{number}: 1" for number in range(30)))[1]
    assert replies.settings_problems(many, "x").endswith("\n- and 20 more")


def test_c2_a_reply_is_found_again_by_the_comment_it_answers() -> None:
    body = render_reply(5, [("/duplicates mute", SAY.muted())])
    assert body == f"<!-- doppel:reply v1 5 -->\n{SAY.muted()}\n"
    assert is_reply_to(body, 5)
    assert not is_reply_to(body, 55)
    assert not is_reply_to(f"> {body}", 5)
    assert not ADVICE.begins(body)


def test_c2_an_answer_names_its_command_where_the_comment_holds_others() -> None:
    body = render_reply(5, [("/duplicates undo", "Two.")], partial=True)
    assert body == "<!-- doppel:reply v1 5 -->\n`/duplicates undo`\n\nTwo.\n"


def test_c2_several_commands_get_one_reply() -> None:
    body = render_reply(5, [("/duplicates mute", "One."), ("/duplicates undo", "Two.")])
    assert body == "<!-- doppel:reply v1 5 -->\n`/duplicates mute`\n\nOne.\n\n`/duplicates undo`\n\nTwo.\n"


@pytest.mark.slow
@given(HOSTILE, HOSTILE)
def test_c3_no_text_in_a_reply_does_anything(text: str, other: str) -> None:
    answers = [
        replies.misspelt(MisspeltCommand(f"/dupe {text}", text, other)),
        replies.invalid(InvalidCommand(text, CommandName.NOT, CommandProblem.NUMBER_UNREADABLE, text)),
        replies.github_refused(text),
        explain(
            report(title=f"{text} {other}"),
            candidate(12, f"{other} {text}", reasons=(Reason(ReasonCode.WORDS, (text,)),)),
            PLACE,
            SAY,
        ),
        replies.settings_problems(parse_config(f"? {text!r}\n: {other!r}")[1], text),
    ]
    body = render_reply(5, [(text, answer) for answer in answers])
    page = read(body)
    assert body.count("<!--") == 1
    assert not PHRASE.search(body)
    assert page.active == {}
    assert set(page.links) <= {"https://redirect.github.com/acme/app/issues/12"}
    assert set(page.html) <= {"<!-- doppel:reply v1 5 -->\n", "<span>", "</span>"}
    assert len(body) <= BODY_MAX


def test_h6_every_source_of_the_settings_has_a_name_in_comments() -> None:
    from bot.conversation.config.schema import SOURCES

    assert [source for source in SOURCES if source_name(source, SAY) == code(source)] == []
