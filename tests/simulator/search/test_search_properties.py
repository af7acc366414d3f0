"""The engine against a slow reference, whatever is asked and in whatever order documents come, change and go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.simulator.search import Document, QueryError, SearchIndex
from bot.simulator.search.lexer import lex
from bot.simulator.search.qualifiers import NAMES
from tests.simulator.search.search_reference import found, has_phrase, has_word, index_of, issue

pytestmark = pytest.mark.slow

WORDS = st.sampled_from(["crash", "crashes", "login", "proxy", "proxy_host", "timeouts", "at", "on", "404", "x-ray"])
SENTENCES = st.lists(WORDS, max_size=6).map(" ".join)
FIELDS = st.sets(st.sampled_from(["title", "body", "comments"]))
DOCUMENTS = st.builds(
    issue,
    st.integers(1, 8),
    SENTENCES,
    SENTENCES,
    comments=st.lists(SENTENCES, max_size=2).map(tuple),
    state=st.sampled_from(["open", "closed"]),
    repo=st.sampled_from(["acme/app", "Acme/Other"]),
)
CORPORA = st.lists(DOCUMENTS, max_size=8, unique_by=lambda document: document.id)


@dataclass(frozen=True)
class Question:
    """A query, how many operators it has, and whether a document matches it, given the fields."""

    q: str
    operators: int
    matches: Callable[[Document, list[str]], bool]


def _word(word: str) -> Question:
    return Question(word, 0, lambda document, fields: has_word(document, word, fields))


def _phrase(phrase: str) -> Question:
    return Question(f'"{phrase}"', 0, lambda document, fields: has_phrase(document, phrase, fields))


def _and(parts: list[Question]) -> Question:
    return Question(
        "(" + " ".join(part.q for part in parts) + ")",
        sum(part.operators for part in parts),
        lambda document, fields: all(part.matches(document, fields) for part in parts),
    )


def _or(parts: list[Question]) -> Question:
    return Question(
        "(" + " OR ".join(part.q for part in parts) + ")",
        sum(part.operators for part in parts) + len(parts) - 1,
        lambda document, fields: any(part.matches(document, fields) for part in parts),
    )


def _not(part: Question) -> Question:
    return Question(f"NOT {part.q}", part.operators + 1, lambda document, fields: not part.matches(document, fields))


OPEN = Question("is:open", 0, lambda document, fields: document.state == "open")
NOT_OPEN = Question("-is:open", 0, lambda document, fields: document.state != "open")
LEAVES = (
    WORDS.map(_word)
    | st.lists(WORDS, min_size=1, max_size=3).map(" ".join).map(_phrase)
    | st.sampled_from([OPEN, NOT_OPEN])
)
QUESTIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(_and)
        | st.lists(inner, min_size=2, max_size=3).map(_or)
        | inner.map(_not)
    ),
    max_leaves=6,
).filter(lambda question: question.operators <= 5 and question.q.count("(") <= 5 and len(question.q) <= 250)


@given(CORPORA, QUESTIONS, FIELDS)
@settings(max_examples=300, deadline=None)
def test_a_query_finds_what_the_reference_finds(documents: list[Document], question: Question, named: set[str]) -> None:
    fields = sorted(named) or ["title", "body", "comments"]
    q = question.q + "".join(f" in:{field}" for field in sorted(named))
    expected = sorted(document.id for document in documents if question.matches(document, fields))
    assert found(index_of(documents), q) == expected


def test_a_word_that_no_document_has_any_more_is_as_one_that_none_ever_had() -> None:
    lived = index_of([issue(1, "login", "crash"), issue(1, "login")])
    built = index_of([issue(1, "login")])
    q = "crash OR NOT crash"
    assert lived.search(q, require_kind=False) == built.search(q, require_kind=False)


@given(st.lists(st.tuples(DOCUMENTS, st.sampled_from(["put", "put", "close", "remove"])), max_size=20), st.data())
@settings(deadline=None)
def test_an_index_that_lived_equals_one_that_was_built_anew(
    steps: list[tuple[Document, str]], data: st.DataObject
) -> None:
    lived, documents = SearchIndex(), dict[int, Document]()
    for document, step in steps:
        if step == "remove":
            lived.remove(document.id)
            documents.pop(document.id, None)
            continue
        new = replace(documents.get(document.id, document), state="closed") if step == "close" else document
        lived.put(new)
        documents[new.id] = new
    built = index_of(documents.values())
    for document, _ in steps:
        # A repository without issues is still there to be searched.
        lived.put_repository(document.repo)
        built.put_repository(document.repo)
    assert len(lived) == len(built)
    question = data.draw(QUESTIONS)
    for more in ({}, {"search_type": "hybrid"}):
        ours = lived.search(question.q, require_kind=False, **more)  # type: ignore[arg-type]
        theirs = built.search(question.q, require_kind=False, **more)  # type: ignore[arg-type]
        assert (ours.total_count, ours.ids, ours.fallback_reasons) == (
            theirs.total_count,
            theirs.ids,
            theirs.fallback_reasons,
        )
        # Sums in another order differ in their last digits.
        assert ours.scores == pytest.approx(theirs.scores, rel=1e-6, abs=1e-6)


PIECES = st.sampled_from(
    [
        *("AND", "OR", "NOT", "(", ")", '"', "-", ":", "..", ">", "<=", "*", "crash", "日本"),
        *("is:issue", "-is:pr", 'label:"', "in:title", "in:", "created:>2024", "created:x", "comments:1.."),
        *("repo:acme/app", "repo:x", "sort:updated", "author:@me"),
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=5), max_size=40).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda glue: glue.join(pieces))
)
INDEX = index_of([issue(1, "crash at login", "日本語"), issue(2, "login", is_pull_request=True)])


@given(HOSTILE | st.text(), st.sampled_from([None, "hybrid", "semantic"]), st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_string_is_answered_or_refused(q: str, search_type: str | None, require_kind: bool) -> None:
    try:
        result = INDEX.search(q, search_type=search_type, require_kind=require_kind)
    except QueryError as error:
        assert error.body()["status"] == "422"
    else:
        assert result.total_count == len(result.ids) == len(result.scores) <= 2
        assert len(set(result.ids)) == len(result.ids)


@given(HOSTILE | st.text())
def test_the_lexer_drops_nothing_but_spaces_and_quotation_marks(q: str) -> None:
    kept = "".join(lexeme.text + "".join(lexeme.values) for lexeme in lex(q, NAMES)).lower()
    assert set("".join(q.split()).lower()) - set('":-,') <= set(kept)
