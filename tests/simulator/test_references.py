"""What a text sets off by itself. A bot's comment must set off nothing of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.simulator import Simulator
from bot.simulator.references import parse

HERE = (None, 7)


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("see #7", (HERE,)),
        ("(#7), GH-7", (HERE,)),
        ("acme/app#7", (("acme/app", 7),)),
        ("https://github.com/acme/app/issues/7", (("acme/app", 7),)),
        ("https://github.com/acme/app/pull/7#issuecomment-1", (("acme/app", 7),)),
        ("[text](https://github.com/acme/app/issues/7)", (("acme/app", 7),)),
        ("https://redirect.github.com/acme/app/issues/7", ()),
        ("`#7` and ``a ` #7``", ()),
        (r"\` #7 `#8`", (HERE,)),
        (r"\``#8` #7", (HERE,)),
        (r"`\` #7 `#8`", (HERE,)),
        ("```\n#7\n```\n", ()),
        ("~~~\n#7\n~~~\n#8", ((None, 8),)),
        ("```\n#7 in a fence that never ends", ()),
        ("```error #7```\n\n#8", ((None, 8),)),
        ("<!-- #7 -->", ()),
        ("an unclosed ` tick and #7", (HERE,)),
        ("acme/appGH-7", ()),
        ("colour #007 or a#7 or #7x &#7;", ()),
    ],
)
def test_references(text: str, issues: tuple[object, ...]) -> None:
    assert parse(text).issues == issues


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("@ada and @acme/team", ("ada", "acme/team")),
        ("mail@ada.example", ()),
        ("`@ada`", ()),
        ("(@ada)", ("ada",)),
        ("@ada @ada", ("ada",)),
    ],
)
def test_mentions(text: str, mentions: tuple[str, ...]) -> None:
    assert parse(text).mentions == mentions


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Duplicate of #7", HERE),
        ("duplicate of acme/app#7.", ("acme/app", 7)),
        ("Duplicate of https://github.com/acme/app/issues/7", ("acme/app", 7)),
        ("This is a duplicate of #7", None),
        ("`Duplicate of #7`", None),
        ("Duplicate of something", None),
    ],
)
def test_c3_duplicate_of(text: str, target: object) -> None:
    assert parse(text).duplicate_of == target


@given(st.text(alphabet="`~#@/a1 \n<!->", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    found = parse(text)
    assert all(number > 0 for _, number in found.issues)


def test_c3_a_reference_leaves_a_back_link_once(sim: Simulator) -> None:
    sim.open_issue("acme/app", "ada", "One")
    sim.open_issue("acme/app", "bea", "Two", "Is this #1, @ada?")
    sim.comment("acme/app", 2, "bea", "Yes, #1")
    assert [event.event for event in sim.issue("acme/app", 1).events] == ["cross-referenced"]
    assert [event.event for event in sim.issue("acme/app", 2).events] == ["mentioned", "subscribed", "commented"]


def test_c3_duplicate_of_is_acted_upon_for_those_who_may_write(sim: Simulator) -> None:
    one = sim.open_issue("acme/app", "ada", "One")
    two = sim.open_issue("acme/app", "bea", "Two")
    sim.comment("acme/app", 2, "stranger", "Duplicate of #1")
    assert two.duplicate_of is None
    sim.comment("acme/app", 2, sim.app.bot, "Duplicate of #1")
    assert two.duplicate_of is one
    assert "marked_as_duplicate" in [event.event for event in two.events]
