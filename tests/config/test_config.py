"""C6: `.github/doppel.yml`, what of it counts, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import IgnoreConfig, RepoConfig, SearchConfig, SourceConfig
from bot.conversation.config.yaml_tree import SIZE_MAX
from bot.domain.entities import Actor, Issue
from tests.effort import costs_at_most
from tests.matching.made import an_issue as made_issue

EVERYTHING = """\
mode: shadow
min_confidence: 0.7
max_candidates: 3
include_closed: no
search: {words_max: 4, budget: 2, hybrid: off}
sources:
  github-search: on
  vectors: off
  full-text:
    limit: 20
    weight: 0.5
ignore:
  authors: [octocat, "renovate[bot]"]
  labels: [question]
  titles: ["[RFC]*"]
only_labels: [bug]
known_issues: [12, 99]
siblings: [acme/app-docs]
label: suggest
language: de
templates:
  found: |
    Look here:
"""


def an_issue(author: str, labels: list[str], title: str) -> Issue:
    """As far as the settings look at it."""
    made = made_issue(1, title, author=author)
    return replace(made, author=Actor(author), labels=tuple(labels))


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse_config(text)[1]]


def test_c6_every_key_is_read() -> None:
    config, wrong = parse_config(EVERYTHING)
    assert wrong == ()
    assert config == RepoConfig(
        mode="shadow",
        min_confidence=0.7,
        max_candidates=3,
        include_closed=False,
        search=SearchConfig(words_max=4, budget=2, hybrid=False),
        sources={
            "github-search": SourceConfig(),
            "vectors": SourceConfig(enabled=False),
            "full-text": SourceConfig(limit=20, weight=0.5),
        },
        ignore=IgnoreConfig(authors=("octocat", "renovate[bot]"), labels=("question",), titles=("[RFC]*",)),
        only_labels=("bug",),
        known_issues=(12, 99),
        siblings=("acme/app-docs",),
        label="suggest",
        language="de",
        templates={"found": "Look here:\n"},
    )


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "---\n", "{}", "\ufeff", "---\n...\n"])
def test_c6_a_file_that_says_nothing_leaves_the_defaults(text: str) -> None:
    assert parse_config(text) == (RepoConfig(), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "mode: shadow\nmin_confidance: 0.4\n",
            'line 2, column 1: there is no setting called "min_confidance" (did you mean min_confidence?)',
        ),
        ("ignore:\n  lables: [x]\n", 'line 2, column 3: there is no setting called "lables" (did you mean labels?)'),
        ("sources: {githubsearch: on}", 'line 1, column 11: there is no setting called "githubsearch" (did you mean'),
        ("zebra: 1", 'line 1, column 1: there is no setting called "zebra"'),
        ("mode: shaddow", 'line 1, column 7: "shaddow" is not comment, shadow or off (did you mean shadow?)'),
        ("max_candidates: many", 'line 1, column 17: "many" is not a whole number from 1 to 10'),
        ("max_candidates: 11", "line 1, column 17: 11 is not a whole number from 1 to 10"),
        ("max_candidates: true", "line 1, column 17: true is not a whole number from 1 to 10"),
        ("min_confidence: 70", "line 1, column 17: 70 is not a number from 0 to 0.98 (did you mean 0.7?)"),
        ("min_confidence: 1e999", "line 1, column 17: 1e999 is not a number from 0 to 0.98"),
        ("min_confidence: 170", "line 1, column 17: 170 is not a number from 0 to 0.98"),
        ("search: 3", "line 1, column 9: 3 is not a mapping with words_max, budget, hybrid"),
        (
            "only_labels: bug",
            'line 1, column 14: "bug" is not a list of at most 100 labels (did you mean ["bug"]?)',
        ),
        (
            "only_labels: bug, docs",
            'line 1, column 14: "bug, docs" is not a list of at most 100 labels (did you mean ["bug", "docs"]?)',
        ),
        (
            "ignore: {authors: 'renovate[bot]'}",
            'line 1, column 19: "renovate[bot]" is not a list of at most 100 logins (did you mean ["renovate[bot]"]?)',
        ),
        (
            "known_issues: 12, 90",
            'line 1, column 15: "12, 90" is not a list of at most 100 issue numbers (did you mean [12, 90]?)',
        ),
        ("only_labels: [1.0]", 'line 1, column 15: 1.0 is not a label of at most 50 characters (did you mean "1.0"?)'),
        ("only_labels:", "line 1, column 13: an empty value is not a list of at most 100 labels"),
        ("only_labels:\n\n# none\nmode: off", "line 1, column 13: an empty value is not a list of at most 100 labels"),
        ("ignore:\n  labels:\nmode: off", "line 2, column 10: an empty value is not a list of at most 100 labels"),
        ("siblings: [acme]", 'line 1, column 12: "acme" is not a repository as OWNER/REPO'),
        ("siblings: [acme/..]", 'line 1, column 12: "acme/.." is not a repository as OWNER/REPO'),
        ("mode: off\nmode: comment", "line 2, column 1: this key was already given in line 1; that one is used"),
        ("mode: off\n\tlabel: add", "line 2, column 1: this is not valid YAML: found character '\\t'"),
        ("mode: [off\n", "line 2, column 1: this is not valid YAML:"),
        ("a: &x 1", "line 1, column 4: anchors (&name) and aliases"),
        ("mode: *x", "line 1, column 7: anchors (&name) and aliases"),
        ("ignore:\n  titles:\n    - *[Bug]*\n", "line 3, column 7: anchors (&name) and aliases"),
        ("ignore:\n  titles:\n    - [Bug]*\n", "line 3, column 12: anchors (&name) and aliases"),
        ("ignore:\n  titles: [*]", "line 2, column 12: anchors (&name) and aliases"),
        ("ignore:\n  titles: [& more]", "line 2, column 12: anchors (&name) and aliases"),
        ("mode: !!python/name:os.system off", "line 1, column 7: tags (!name) are not supported"),
        ("mode: off\n---\nmode: comment", "line 2, column 1: a settings file holds one document"),
        ("- mode", "line 1, column 1: a settings file is made of lines such as mode: comment"),
        ("? [a]\n: b", "line 1, column 3: a key must be a single word"),
        ("mode: \x07", "line 1, column 7: this is not valid YAML: a character here is not allowed"),
        (
            'mode: off\nlanguage: "\\U00110000"',
            "line 1, column 1: this is not valid YAML: a character here is not allowed",
        ),
        ("a: [[[[[[[[[[[[1]]]]]]]]]]]]", "line 1, column 11: this is nested more deeply than any setting"),
        ("a" * (SIZE_MAX + 1), "line 1, column 1: the file is longer than 65536 characters"),
    ],
)
def test_c6_what_is_wrong_is_named_with_position_and_hint(text: str, expected: str) -> None:
    assert problems(text)[0].startswith(expected)


def test_c6_what_is_valid_counts_although_something_else_is_wrong() -> None:
    config, wrong = parse_config(
        "mode: off\nmax_candidates: x\nignore: {labels: [good, 3], titels: []}\nlanguage: ja\n"
    )
    assert (config.mode, config.max_candidates, config.ignore.labels, config.language) == ("off", 3, ("good",), "ja")
    assert [problem.line for problem in wrong] == [2, 3, 3]


def test_c6_what_stands_before_a_slip_in_yaml_counts() -> None:
    config, wrong = parse_config("mode: off\nignore:\n  labels: [question]\nonly_labels: [bug\nlanguage: de\n")
    assert (config.mode, config.ignore.labels, config.only_labels) == ("off", ("question",), ())
    assert len(wrong) == 1


@pytest.mark.parametrize(
    "text", ["known_issues: many", r'only_labels: "a\"b"', r'only_labels: "\e[1m"', "only_labels: ','"]
)
def test_c6_what_would_be_wrong_in_a_list_too_is_not_proposed(text: str) -> None:
    assert not parse_config(text)[1][0].hint


def test_c6_a_login_may_be_written_as_one_mentions_somebody() -> None:
    config, wrong = parse_config("ignore: {authors: ['@Octocat', 'renovate[bot]']}")
    assert (config.ignore.authors, wrong) == (("Octocat", "renovate[bot]"), ())


def test_c6_two_escapes_can_name_the_halves_of_a_character_as_in_json() -> None:
    config, wrong = parse_config(r'{"only_labels": ["\ud83d\udc1e bug", "half \ud83d"]}')
    assert (config.only_labels, wrong) == (("🐞 bug", "half \ufffd"), ())


def test_c6_a_long_list_is_cut_and_said() -> None:
    config, wrong = parse_config(f"known_issues: {list(range(1, 200))}")
    assert len(config.known_issues) == 100
    assert "199 items; only the first 100 are used" in wrong[0].message


def test_h2_what_is_listed_twice_counts_once() -> None:
    config, wrong = parse_config("known_issues: [12, 99, 12]")
    assert (config.known_issues, wrong) == ((12, 99), ())


def test_a_message_quotes_the_file_without_controls() -> None:
    assert problems('"mo\\e[31mde\\u202e": 1')[0].endswith('called "mo\ufffd[31mde\ufffd"')


class TestIgnores:
    config = RepoConfig(
        ignore=IgnoreConfig(
            authors=("Octocat", "renovate[bot]"), labels=("Question",), titles=("[rfc]*", "* release checklist")
        )
    )

    @pytest.mark.parametrize(
        ("author", "labels", "title", "why"),
        [
            ("octocat", [], "x", "ignore.authors: octocat"),
            ("renovate[bot]", [], "x", "ignore.authors: renovate[bot]"),
            ("ann", ["bug", "question"], "x", "ignore.labels: question"),
            ("ann", ["bug"], "[RFC] A new way", "ignore.titles: [rfc]*"),
            ("ann", [], "3.2 release checklist", "ignore.titles: * release checklist"),
            ("ann", ["bug"], "RFC", None),
            ("octocats", ["questions"], "release checklist 3", None),
        ],
    )
    def test_c6_authors_labels_and_titles(self, author: str, labels: list[str], title: str, why: str | None) -> None:
        assert self.config.why_ignored(an_issue(author, labels, title)) == why

    def test_c6_only_labels(self) -> None:
        config = RepoConfig(only_labels=("bug", "Regression"))
        for labels in ([], ["feature"]):
            assert config.why_ignored(an_issue("ann", labels, "x")) == "only_labels"
        assert config.why_ignored(an_issue("ann", ["feature", "regression"], "x")) is None


PIECES = ["[", "{a: ", "- ", "? ", "a: ", "&a ", "*a ", "a,", "[],", '"', "'", "a: |\n \n", "#", "!a ", "x\n", "a: b\n"]


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_no_file_takes_long(piece: str) -> None:
    """The worst of these take two or three seconds; the bound leaves room for a slow machine."""
    with costs_at_most(40):
        parse_config((piece * SIZE_MAX)[:SIZE_MAX])
        parse_config(f"only_labels: [{(piece * SIZE_MAX)[: SIZE_MAX - 20]}")


@pytest.mark.parametrize("off", ["off", "Off", "OFF", "false", "False"])
def test_c6_off_is_off_as_yaml_has_always_spelt_it(off: str) -> None:
    """Who writes `mode: OFF` must not be posted to."""
    text = f"mode: {off}\nlabel: {off}\ninclude_closed: {off}\nsources: {{vectors: {off}}}\n"
    config, wrong = parse_config(text)
    assert wrong == ()
    assert (config.mode, config.label, config.include_closed) == ("off", "off", False)
    assert config.sources["vectors"] == SourceConfig(enabled=False)


@pytest.mark.parametrize("word", ["oFF", "oN", "Of", "YeS"])
def test_c6_other_spellings_are_none(word: str) -> None:
    assert parse_config(f"calibrate: {word}")[1] != ()
