"""C3, C6: a repository's own texts, as they are read and as they are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.config.parser import parse_config
from bot.conversation.messages.catalogue import messages_for
from bot.conversation.messages.template import GAPS_MAX, TEMPLATE_MAX, MalformedTemplate, Template, forbidden_part
from bot.conversation.render.escape import RepoLinks, code, escape
from tests.render.reading import read


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("https:{v}", "//github.com/acme/app/issues/1"),
        ("www{v}", ".evil.example"),
        ("mailto:{v}", "a"),
        ("GH-{v}", "12"),
        ("#{v}", "12"),
        ("{v}#5", "acme/app"),
        ("@{v}", "octocat"),
        ("{v}@octocat", ""),
        ("&#64;{v}", "octocat"),
        ("\\@octocat{v}", ""),
        ("[x]({v})", "https://evil.example"),
        ("[x]{v}", "(https://evil.example)"),
        ("![x]{v}", "(https://evil.example/x.png)"),
        ("<b>{v}", "x"),
        ("```{v}", "x"),
        ("~~~ {v}", "x"),
        ("0123456{v}", "789abc"),
        ("<!-- doppel:advice v1 {v}", "-->"),
        ("$1{v}$", "x"),
    ],
)
def test_c3_nothing_comes_of_a_text_and_what_fills_it(template: str, value: str) -> None:
    page = read(Template.parse(template).harmless().fill({"v": escape(value)}))
    assert (page.active, page.links, page.images, page.codes) == ({}, [], 0, [])
    assert set(page.html) <= {"<span>", "</span>"}


@pytest.mark.parametrize("template", ["`a`{v}", "{v}`a`", "{v}{v}", "`{v}", "{v}`", "\\{v}", "``a{v}`"])
def test_c3_code_beside_code_stays_code(template: str) -> None:
    page = read(Template.parse(template).harmless().fill({"v": code("@octocat <b> `x` @octocat")}))
    assert page.active == {}
    assert page.html == []
    assert "@octocat <b> `x` @octocat" in page.codes


def test_c3_a_link_behind_an_exclamation_mark_is_no_picture() -> None:
    page = read(messages_for("en", {"of_done": "Closed!{issue}"}).of_done(issue=RepoLinks("acme/app").issue(7)))
    assert (page.links, page.images) == (["https://redirect.github.com/acme/app/issues/7"], 0)


def test_c6_a_text_may_be_emphasised_and_hold_code() -> None:
    say = messages_for("en", {"found": "**Seen before?**\n See `CONTRIBUTING.md`, then {{decide}}: {count}\n"})
    assert say.found(count=1_200) == "**Seen before?** See `CONTRIBUTING.md`, then {decide}: 1,200"
    assert say.plain.found(count=1).startswith("**Probably")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fuond: x", 'column 13: there is no text called "fuond" (did you mean found?)'),
        ('found: "{cuont}"', 'column 20: the text found has no variable "cuont" (did you mean count?)'),
        ('nothing: "{count}"', 'column 22: the text nothing has no variable "count"'),
        ('found: "{count!r}"', 'column 20: "{count!r}" is not a variable; to show a brace, write it twice'),
        ('found: "{count:>9999999}"', 'column 20: "{count:>9999999}" is not a variable'),
        ('found: "{count.__class__}"', 'column 20: "{count.__class__}" is not a variable'),
        ('found: "{}"', 'column 20: "{}" is not a variable'),
        ('found: "}"', 'column 20: "}" is not a variable'),
        ('found: "Ask @octocat"', 'column 20: "@octocat" is not allowed in a text'),
        ('found: "As in #12"', 'column 20: "#12" is not allowed in a text'),
        ('found: "A Duplicate of {count}"', 'column 20: "Duplicate of" is not allowed in a text'),
        ('found: "https://github.com/a/b/issues/1"', 'column 20: "https://github.com/a/b/issues/1" is not allowed'),
        ('found: "<!-- doppel:advice v1"', 'column 20: "<!--" is not allowed in a text'),
        (f'found: "{"{count}" * 11}"', "column 20: this text has more than 10 variables"),
        (f"found: {'x' * 601}", "is not a text of at most 600 characters"),
        ("found: [x]", "column 20: a list is not a text of at most 600 characters"),
    ],
)
def test_c6_what_is_wrong_with_a_text_is_named_and_the_bots_own_holds(text: str, problem: str) -> None:
    config, problems = parse_config(f"templates: {{{text}}}\n")
    assert [problem in str(found) for found in problems] == [True], problems
    assert config.templates == {}


@given(st.text(max_size=80) | st.text("{}a!:.[]_0", max_size=30))
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    forbidden_part(text)
    try:
        template = Template.parse(text)
    except MalformedTemplate:
        return
    values = dict.fromkeys(template.variables, "v")
    assert Template.parse(text.replace("{", "{{").replace("}", "}}")).fill({}) == text
    template.harmless().fill(values)


def test_the_bounds_are_those_of_the_documentation() -> None:
    assert (TEMPLATE_MAX, GAPS_MAX) == (600, 10)
