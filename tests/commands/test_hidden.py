"""C4: only what a reader of the comment sees as a line of text is a command, however it is hidden."""

from __future__ import annotations

import pytest

from bot.conversation.commands.parser import parse
from bot.conversation.commands.visible_lines import BRACKETS_MAX
from bot.domain.entities import RepoRef

REPO = RepoRef("acme", "app")
LINE = "/duplicates of #1"

HIDDEN = {
    "attribute": 'a <b title="\n{}\n">b</b>',
    "attribute, single quotes": "a <b title='\n{}\n'>b</b>",
    "names of attributes": "<p\n/duplicates\n>",
    "attribute of a block": '<p title="\n{}\n">',
    "attribute that goes on behind an empty line": '<p title="\n\n{}\n\n<b x="">',
    "attribute behind what only a browser ends": 'a <?b><p title="?>\n{}\n<b x="">',
    "attribute behind the end that only a browser sees of a comment": 'a <!-- --!><p title=" -->\n{}\n<b x="">',
    "attribute behind a quotation mark in a name": '<p a"><p title="b>\n\n{}\n\n<b x="">',
    "attribute parted by a vertical tab": 'a <b\vtitle="\n{}\n">',
    "attribute behind a tag parted by a no-break space": 'a <b\xa0c="`"> ` <d title="` \n{}\n">',
    "attribute behind a mark of direction in code": 'a `\u200e` <b title="``\n{}\n">',
    "link's title": 'a [b](c "\n{}\n")',
    "link's title, single quotes": "a [b](c '\n{}\n')",
    "link's title, brackets": "a [b](c (\n{}\n))",
    "link's title that begins on its line": '[b](c\n"\n{}\n")',
    "title of a link that leads nowhere": 'a [b](javascript:c "\n{}\n")',
    "title of a link of many brackets": f'{"[" * 30}b{"]" * 30}(c "\n{{}}\n")',
    "link's address": "a [b](\n/duplicates\n)",
    "link's reference": "a [b][c\n{0}\nd]\n\n[c {0} d]: /e",
    "definition": '[a]: /b "\n{}\n"',
    "name of a definition": "[a\n{}\n]: /b",
    "address of a definition": "[a]:\n/duplicates",
    "definition in a list": "- [a]: /b '\n  {}\n  '",
    "footnote": "[^a]: b\n{}",
    "image's description": "![a\n{}\n](b.png)",
    "image's description, by reference": "![a\n{}\n][b]\n\n[b]: c.png",
    "image's title": 'a ![a](b.png "\n{}\n")',
    "image within a link": "[![a\n{}\n](b.png)](c)",
    "processing instruction": "a <?php\n{}\n?>",
    "processing instruction as a block": "<?php\n\n{}\n\n?>",
    "CDATA": "a <![CDATA[\n{}\n]]>",
    "CDATA as a block": "<![CDATA[\n\n{}\n\n]]>",
    "declaration": "a <!DOCTYPE b\n{}\nc>",
    "HTML comment": "a <!-- b\n{}\n-->",
    "HTML comment as a block": "<!--\n\n{}\n\n-->",
    "HTML comment without an end in a list": "- <!-- a\n\n{}",
    "HTML comment without an end in a quote": "> <!-- a\n\n{}",
    "what old browsers show": "a <ruby>b<rp>\n{}\n</rp></ruby>",
    "what old browsers show, as a block": "<rp>\n\n{}\n\n</rp>",
    "formula": "a $$\\phantom{{\n{}\n}}$$",
    "formula in a line": "a $\\phantom{{\n{}\n}}$ b",
    "code": "a ``\n{}\n``",
}


@pytest.mark.parametrize("what", HIDDEN)
def test_c4_what_no_reader_sees_is_no_command(what: str) -> None:
    assert parse(HIDDEN[what].format(LINE), REPO) == ()


@pytest.mark.parametrize(
    "body",
    [
        "a <b title='x'>b</b>\n{}",
        "<b>a</b> and List<String>\n{}",
        "<p>a</p>\n\n{}",
        "<details>\n<summary>Log</summary>\n<pre>\n<module 'a' from 'b'> and <unknown>\n</pre>\n</details>\n\n{}",
        "<details><summary>a</summary>\n\n{}\n\n</details>",
        "<!-- <template> and <!-- -->\n{}",
        "<!-- Please describe <what\n -->\n\n{}",
        "a <?php echo $b->c ?>\n{}",
        "<ruby>a<rp>(</rp>b<rp>)</rp></ruby> c\n{}",
        "if a <b and c[0\n{}",
        "[a](b 'c')\n{}",
        "![a](b.png)\n{}",
        "[a]: /b 'c'\n{}",
        "[a]: /b\n{}",
        "[a]: not a definition\n{}",
        "[ ] a\n[x] b\n{}",
        "[INFO] " * 900 + "\n{}",
        "$HOME is not set\n{}\nsee $PATH",
        "it costs $5\n{}",
        "[^a] is a footnote\n{}\n\n[^a]: b",
        '\\<b title="\n{}\n">',
    ],
)
def test_c4_what_a_reader_sees_is_a_command_whatever_stands_around_it(body: str) -> None:
    assert [found.line for found in parse(body.format(LINE), REPO)] == [LINE]


def test_c4_what_a_command_begins_hides_the_lines_behind_it() -> None:
    for begun in ("<b title='\n{}\n'>", "[a](b '\n{}\n')", "![\n{}\n](b)", "<!--\n{}\n-->"):
        assert LINE not in [found.line for found in parse(f"/duplicates search a {begun.format(LINE)}", REPO)], begun


def test_c4_a_comment_of_too_many_brackets_has_no_commands() -> None:
    assert len(parse(f"{LINE}\n\n{'[' * BRACKETS_MAX}", REPO)) == 0, "brackets in each other hide what is a link"
    assert len(parse(f"{LINE}\n\n{'[]' * BRACKETS_MAX}", REPO)) == 1
    assert parse(f"{LINE}\n\n{'[]' * BRACKETS_MAX}[", REPO) == ()
