"""What speaks for two issues being the same: finite numbers that do not depend on the order of the candidates."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.entities import Actor, Issue, RepoRef
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.matching import Matcher, features
from bot.search.matching.features import NAMES, TermRarity
from bot.search.matching.retrieval import FIELDS, load, make_query
from tests.matching.made import an_issue, fill

START = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = [
    "map",
    "tile",
    "getTileUrl",
    "net/http:",
    "LS-2014",
    "错误信息",
    "panic:",
    "1.8.3",
    "\n",
    "could not open file",
    "",
]

texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
authors = st.sampled_from(["", "ghost", "hedvig", "ostap"])
written = st.tuples(texts, texts, authors, st.integers(0, 400))

_repositories = iter(range(1, 1_000_000))


def issue(number: int, one: tuple[str, str, str, int]) -> Issue:
    title, body, author, hours = one
    at = START + timedelta(hours=hours)
    return Issue(RepoRef("a", "b"), number, "", number, title, body, "open", None, Actor(author), (), at, at, None, "")


def values(index: Index, repo: int, target: Issue, numbers: list[int]) -> np.ndarray:
    analysis = index.analyse(repo, target.title, target.body)
    pair = index.embed(repo, analysis)
    with index.view(repo) as view:
        question = make_query(view, target, target.title, analysis, pair)
        there, pool = load(view, np.array(numbers, dtype=np.int64), question.vectors is not None)
        assert there.tolist() == numbers
        return features.compute_features(question, pool, TermRarity.of(view))


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(them=st.lists(written, min_size=1, max_size=6), target=written, seed=st.randoms())
def test_features_are_finite_and_blind_to_the_order_of_candidates(index: Index, them, target, seed) -> None:  # type: ignore[no-untyped-def]
    repo = next(_repositories)
    issues = [issue(number, one) for number, one in enumerate(them, 1)]
    index.put(repo, [IndexedIssue.of(one) for one in issues])
    numbers = [one.number for one in issues]
    found = values(index, repo, issue(99, target), numbers)
    assert found.shape == (len(numbers), len(NAMES))
    assert np.isfinite(found).all()
    assert np.isfinite(features.with_pool_ranks(found)).all()
    shares = [NAMES.index(name) for name in NAMES if "_of_" in name or name in ("words_shared", "titles", "ratio")]
    assert ((found[:, shares] >= 0) & (found[:, shares] <= 1 + 1e-9)).all()
    order = list(range(len(numbers)))
    seed.shuffle(order)
    shuffled = values(index, repo, issue(99, target), [numbers[place] for place in order])
    assert np.allclose(shuffled, found[order], atol=1e-6)


@pytest.mark.parametrize(
    ("author", "reported"),
    [
        (Actor("hedvig"), np.log1p(2) - features.USUALLY_REPORTED),
        (Actor("ostap"), -features.USUALLY_REPORTED),
        # Nobody, and machines, have no experience and no style of their own.
        (Actor("ghost"), 0),
        (Actor("gatebot"), 0),
        (Actor("gate[bot]", is_bot=True), 0),
        (Actor("gate", is_bot=True), 0),
    ],
)
def test_who_has_reported_much_is_known_by_their_earlier_issues(index: Index, author: Actor, reported: float) -> None:
    repo = next(_repositories)
    writers = ["hedvig", "hedvig", "ghost", author.login]
    index.put(repo, [IndexedIssue.of(issue(number, ("map", "", login, 0))) for number, login in enumerate(writers, 1)])
    number = 4 if author.login != "hedvig" else 3
    # Of a copy it says nothing that one person wrote both.
    for title, same in (("getTileUrl panic:", author.login == "hedvig"), ("map", False)):
        target = replace(issue(number, (title, "", "", 1)), author=author)
        row = values(index, repo, target, [1])[0]
        assert row[NAMES.index("reported")] == pytest.approx(reported)
        assert row[NAMES.index("same_author")] == same


SYMMETRIC = ("titles", "words_shared", "vector_title", "vector_text", "vector_both", "ratio", "same_topic", "days")


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=written, other=written)
def test_likeness_is_the_same_from_both_sides(index: Index, one, other) -> None:  # type: ignore[no-untyped-def]
    repo = next(_repositories)
    both = [issue(1, one), issue(2, other)]
    index.put(repo, [IndexedIssue.of(each) for each in both])
    there, back = values(index, repo, both[0], [2])[0], values(index, repo, both[1], [1])[0]
    for name in (*SYMMETRIC, "same_author", "rarest", "codes", "messages"):
        assert np.isclose(there[NAMES.index(name)], back[NAMES.index(name)], atol=0.02), name


@pytest.mark.parametrize("before", ["[Bug]: ", "bug: ", "🐛 "])
def test_the_kind_that_a_title_begins_with_says_nothing(index: Index, before: str) -> None:
    repo = next(_repositories)
    others = ("net/http: tile is lost", "net/http: map is lost", "bug: tile", "map: could not open file")
    index.put(repo, [IndexedIssue.of(issue(n, (title, "", "ostap", 0))) for n, title in enumerate(others, 1)])
    plain, kind = (values(index, repo, issue(9, (f"{b}net/http: map", "", "", 9)), [1, 2, 3, 4]) for b in ("", before))
    assert np.allclose(plain, kind)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(them=st.lists(written, min_size=1, max_size=4), target=written)
def test_features_of_terms_are_those_that_a_plain_count_gives(index: Index, them, target) -> None:  # type: ignore[no-untyped-def]
    repo = next(_repositories)
    issues = [issue(number, one) for number, one in enumerate(them, 1)]
    index.put(repo, [IndexedIssue.of(one) for one in issues])
    found = values(index, repo, issue(99, target), [one.number for one in issues])
    read = [index.analyse(repo, one.title, one.body).terms for one in issues]
    mine = index.analyse(repo, *target[:2]).terms

    def rarity(field: str, term: str) -> float:
        # A word that the field never has, but another one, counts as one that it has once.
        seen = max(sum(term in one[field] for one in read), any(term in one["words"] for one in read))
        return float(np.log1p((50 - seen + 0.5) / (seen + 0.5)) / np.log1p(50.5 / 0.5))

    def mass(terms: set[str], field: str) -> float:
        return sum(rarity(field, term) for term in terms)

    for row, theirs in zip(found, read, strict=True):
        shared = {field: set(mine[field]) & set(theirs[field]) for field in FIELDS}
        title_in_words = set(mine["title"]) & set(theirs["words"])
        words_in_title = set(mine["words"]) & set(theirs["title"])
        rarest = sorted((rarity("words", term) for term in shared["words"]), reverse=True)
        words = mass(shared["words"], "words")
        either = mass(set(mine["words"]), "words") + mass(set(theirs["words"]), "words") - words
        expected = {
            "titles": _share(
                sum(rarity("title", term) ** 2 for term in shared["title"]),
                np.sqrt(np.prod([sum(rarity("title", term) ** 2 for term in one["title"]) for one in (mine, theirs)])),
            ),
            "title_in_title": _share(mass(shared["title"], "title"), mass(set(mine["title"]), "title")),
            "title_in_words": _share(mass(title_in_words, "words"), mass(set(mine["title"]), "words")),
            "words_in_title": _share(mass(words_in_title, "title"), mass(set(theirs["title"]), "title")),
            "words_shared": _share(words, either),
            "rarest": sum(rarest[:1]),
            "rarest_five": sum(rarest[:5]),
            "codes": np.log1p(mass(shared["codes"], "codes")),
            "rarest_code": max((rarity("codes", term) for term in shared["codes"]), default=0),
            "messages": np.log1p(mass(shared["messages"], "messages")),
            "length": np.log1p(sum(theirs["words"].values())),
        }
        assert {name: row[NAMES.index(name)] for name in expected} == pytest.approx(expected, abs=1e-9)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 3), min_size=len(features.COMPARED), max_size=len(features.COMPARED))))
def test_equals_share_the_best_rank(rows: list[list[int]]) -> None:
    compared = np.zeros((len(rows), len(NAMES)))
    for place, name in enumerate(features.COMPARED):
        compared[:, NAMES.index(name)] = [row[place] for row in rows]
    ranks = features.with_pool_ranks(compared)[:, -len(features.COMPARED) :]
    expected = [[np.log1p(sum(other[at] > own for other in rows)) for at, own in enumerate(row)] for row in rows]
    assert ranks == pytest.approx(np.array(expected).reshape(ranks.shape))


PLAIN = ("garden", "window", "silver", "mountain", "kettle", "basket")
#: What is shared exactly, and words that are as rare.
PAIRS = (
    ("E1042X", "marmalade"),
    ("TileNotFoundError", "unicycle"),
    ("panic: runtime error: lookahead exhausted", "juggling sandwich trombone"),
    ("src/upload/store.py:114", "parsley walnut"),
    ("v1.8.3", "glacier"),
    ("user_name_of", "lobster"),
    ("getUserName", "hammock"),
    ("at com.acme.Foo.readAll(Foo.java:42)", "pelican dungeon"),
)


def test_errors_names_from_code_paths_and_versions_weigh_more_than_words(engine: sa.Engine) -> None:
    """By the words alone: a model would tell even more."""
    others = [
        an_issue(20 + place, f"Trouble with the {words[0]}", f"We saw a {' '.join(words)} yesterday")
        for place, words in enumerate(itertools.islice(itertools.permutations(PLAIN, 4), 0, None, 6))
    ]
    told = [
        an_issue(200 + place, "Something fails on start", f"Here it stops.\n{said}\nappears in the end")
        for place, said in enumerate(itertools.chain.from_iterable(PAIRS))
    ]
    index = Index(engine, TextAnalyser())
    fill(index, *others, *told)
    for place, (exact, words) in enumerate(PAIRS):
        target = an_issue(300, "Trouble at noon", f"We saw\n{exact}\nand {words} yesterday")
        with Matcher(index).session(1, target) as session:
            found = {match.number: match for match in session.judge()}
        assert found[200 + 2 * place].score > found[201 + 2 * place].score, exact
        assert found[200 + 2 * place].confidence >= found[201 + 2 * place].confidence, exact
