"""C6: each language has every text, whole and in its own typography."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.messages.catalogue import COUNT, LANGUAGES, declared, english, messages, messages_for
from bot.conversation.messages.detection import language_of
from tests.effort import costs_at_most
from tests.words.texts import ISSUES

TEXTS = declared()


def data(language: str) -> dict[str, str | dict[str, str]]:
    text = resources.files("bot.conversation.messages").joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return {name: written for name, written in tomllib.loads(text).items() if name != "days"}


def written(language: str) -> dict[str, str]:
    """Every form by its name, without what is written for machines."""
    forms = {
        f"{name}.{form}": text
        for name, texts in data(language).items()
        for form, text in (texts if isinstance(texts, dict) else {"other": texts}).items()
    }
    return {name: re.sub(r"`[^`]*`|\{\w+\}|mode: comment|\(!name\)", "x", text) for name, text in forms.items()}


def test_c6_callers_name_a_text_and_give_it_the_variables_of_its_english_words() -> None:
    """mypy cannot check this."""
    others = {"fill", "locale", "plain"}
    calls, wrong = 0, []
    for path in (*Path("bot").rglob("*.py"), *Path("handlers").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(ast.Name("say") | ast.Attribute(attr="say"), name) if name not in {*TEXTS, *others}:
                    wrong.append(f"{path}:{node.lineno}: {name}")
                case ast.Call(func=ast.Attribute(ast.Name("say") | ast.Attribute(attr="say"), name)) if name in TEXTS:
                    given = {keyword.arg for keyword in node.keywords}
                    calls += 1
                    if node.args or given != set(english().variables(name)):
                        wrong.append(f"{path}:{node.lineno}: {name}")
    assert (wrong, calls > 150) == ([], True)


CATEGORIES = {"zero", "one", "two", "few", "many", "other"}
# Texts whose plural forms may omit the number.
NUMBER_OPTIONAL = {"found", "related"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_c6_each_language_has_exactly_the_texts_that_are_declared(language: str) -> None:
    assert set(data(language)) == set(TEXTS)
    assert not [name for name in TEXTS if hasattr(type(english()), name)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_c6_each_text_has_the_variables_of_its_english_words(language: str) -> None:
    wrong = []
    for name in TEXTS:
        forms, variables = messages(language)._forms[name], set(english().variables(name))
        if "other" not in forms or not set(forms) <= (CATEGORIES if COUNT in variables else {"other"}):
            wrong.append((name, tuple(forms)))
        for form, template in forms.items():
            optional = {COUNT} if form != "other" or name in NUMBER_OPTIONAL else set()
            if not variables - optional <= set(template.variables) <= variables:
                wrong.append((name, template.variables))
    assert wrong == []


def test_c6_every_text_is_explained() -> None:
    assert [text.name for text in TEXTS.values() if not text.purpose.endswith((".", "…”."))] == []


# What all or several languages write alike.
ALIKE = {"comma", "because", "command", "command_for", "cause", "query", "explain_heading", "quoted", "days", "either"}
ALIKE |= {"standing_by"}


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_c6_nothing_is_left_in_english(language: str) -> None:
    english, other = data("en"), data(language)
    same = {name for name in TEXTS if other[name] == english[name]} - ALIKE
    # Terms that the community of a language uses as they are.
    assert same <= {"labels", "minutes", "source_pull_requests", "issues"}, same


@pytest.mark.parametrize(("language", "none", "one", "many"), [
    ("en", "0 results", "1 result", "1,234,567 results"),
    ("de", "0 Treffer", "1 Treffer", "1.234.567 Treffer"),
    ("fr", "0 résultat", "1 résultat", "1\u202f234\u202f567 résultats"),
    ("es", "0 resultados", "1 resultado", "1.234.567 resultados"),
    ("zh", "0 条结果", "1 条结果", "1,234,567 条结果"),
    ("ja", "0 件", "1 件", "1,234,567 件"),
])  # fmt: skip
def test_c6_numbers_and_their_forms_are_the_languages_own(language: str, none: str, one: str, many: str) -> None:
    say = messages_for(language, {})
    assert (say.results(count=0), say.results(count=1), say.results(count=1_234_567)) == (none, one, many)


def test_c6_french_has_its_spaces_and_no_straight_quotes() -> None:
    for name, text in written("fr").items():
        assert not re.search(r"['\"]", text), name
        assert not re.search(r"(?<![\u00a0])(?<!^)[:»](?=[ *]|$)|(?<!\u202f)[;?!]", text), (name, text)
        assert not re.search(r"«(?!\u00a0)", text), name


@pytest.mark.parametrize(("language", "marks"), [("de", "\"'“"), ("es", "\"'“”"), ("zh", "\"'«"), ("ja", "\"'“«")])
def test_c6_quotation_marks_are_the_languages_own(language: str, marks: str) -> None:
    for name, text in written(language).items():
        # German closes with the mark that English opens with.
        text = re.sub("„[^“]*“", "", text) if language == "de" else text
        assert not set(text) & set(marks), (name, text)


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_c6_chinese_and_japanese_have_their_own_punctuation(language: str) -> None:
    for name, text in written(language).items():
        assert not re.search(r"[\u3040-\u30ff\u4e00-\u9fff][,.;?!()]", text), (name, text)


def test_c6_spanish_questions_begin_with_their_mark() -> None:
    assert all(text.count("?") == text.count("¿") for text in written("es").values())


def test_github_acts_on_no_text() -> None:
    for language in LANGUAGES:
        for name, text in written(language).items():
            assert not re.search(r"duplicate\s+of|@\w|#[0-9]", text, re.IGNORECASE), (language, name)


@pytest.mark.parametrize(("language", "title", "body"), ISSUES)
def test_c6_the_language_of_an_issue(language: str, title: str, body: str) -> None:
    assert language_of(title, body) == language


@given(st.text(max_size=300), st.text(max_size=300))
def test_c6_every_text_has_a_language(title: str, body: str) -> None:
    assert language_of(title, body) in LANGUAGES


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["```\n", "~~~", "`", "<", "# ", "    x\n", "a.", "文", "_", "://", "- [ ] ", "a", ":", "\n", "&", "\u0301"],
)
def test_no_issue_takes_long_to_tell_the_language_of(piece: str) -> None:

    with costs_at_most(0.3):
        language_of(piece * 50, piece * 30_000)
        # Twenty times of what it takes, and a third of what it takes to try a run from each of its letters.


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Looking through 1 open issue in the background"),
        ("de", "1 offenes Issue wird im Hintergrund durchgesehen"),
        ("es", "Se está revisando 1 issue abierto en segundo plano"),
        ("fr", "1 ticket ouvert est parcouru en arrière-plan"),
    ],
)
def test_a_scan_of_one_issue_speaks_of_one(language: str, said: str) -> None:
    say = messages_for(language, {})
    assert said in say.scan_begun(count=1, wait="", title="")
    assert said in say.scan_begun_known(count=1, wait="", issue="")
