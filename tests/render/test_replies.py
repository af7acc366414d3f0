"""C4, C5: the replies to commands."""

from __future__ import annotations

import pytest
from hypothesis import given

from bot.conversation.commands.table import (
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
from bot.conversation.render.replies import Replies, render_reply
from bot.domain.entities import BODY_MAX
from bot.domain.report import Reason, ReasonCode
from tests.render.reading import PHRASE, read
from tests.render.samples import candidate, report
from tests.render.test_escape import HOSTILE

LINKS = RepoLinks("acme/app")
SAY = english()
replies = Replies(SAY, LINKS)


def test_c4_what_the_snapshots_do_not_show() -> None:
    seven = "[#7](https://redirect.github.com/acme/app/issues/7)"
    assert replies.closed_for(12, 7, closed=True).startswith(f"Closed in favour of {seven}, which is closed itself. ")
    assert replies.refused_root(12, 12, "No.") == "No."
    assert "(1,200 of about ?)" in replies.scan_not_ready(1200, None)
    assert "can give 3 commands per 2 seconds. Please try again in 2 seconds." in replies.rate_limited(3, 0.2)


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
            LINKS,
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
