"""H2, H3: one thing found twice is one result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.grouping import Document, collapse, content_hash, title_similarity


def issue(number: int, title: str, *sources: str, text: str = "") -> Document:
    url = f"https://github.com/acme/app/issues/{number}"
    return Document(f"acme/app#{number}", url, title, (text,) if text else (), sources)


def other(url: str, title: str = "", text: str = "", *sources: str) -> Document:
    return Document("", url, title, (text,) if text else (), sources)


def test_h3_two_issues_with_the_same_title_and_text_are_two_issues() -> None:
    both = [issue(1, "It crashes", text="Same text"), issue(2, "It crashes", text="Same text")]
    assert collapse(both) == both


def test_h2_the_same_issue_is_one_result_with_every_source() -> None:
    found = collapse([issue(1, "It crashes", "full-text"), issue(2, "Else"), issue(1, "It crashes", "vectors")])
    assert [(one.identity, one.sources) for one in found] == [
        ("acme/app#1", ("full-text", "vectors")),
        ("acme/app#2", ()),
    ]
    shouted = Document("ACME/app#1", "", "It crashes", (), ("siblings",))
    assert collapse([issue(1, "It crashes", "full-text"), shouted])[0].sources == ("full-text", "siblings")


def test_h3_other_documents_are_recognised_by_address_text_or_title() -> None:
    first = other("https://example.org/faq/", "How to log in", "Use the button.", "discussions")
    for again in (
        other("http://www.example.org/faq?x=1", "Other", "Other", "vectors"),
        other("https://example.org/2", "Other", "  use THE\nbutton. ", "vectors"),
        other("https://example.org/3", "How to log  in", "Other", "vectors"),
    ):
        (kept,) = collapse([first, again])
        assert (kept.url, kept.title, kept.sources) == (first.url, first.title, ("discussions", "vectors"))
        assert kept.also_at == (again.url,)
        assert kept.snippets[0] == "Use the button."
        assert set(kept.snippets) == {*first.snippets, *again.snippets}
    apart = other("https://example.org/4", "How to log out again", "Else")
    assert len(collapse([first, apart])) == 2
    assert len(collapse([first, apart], alike=0.5)) == 1


def test_h3_titles_are_one_from_ninety_five_per_cent_on() -> None:
    """One letter of twenty is changed, or one of nineteen."""
    long, short = "How to log in at all", "How to log in again"
    for title, count in ((long, 1), (short, 2)):
        changed = title.replace("g", "b", 1)
        assert len(collapse([other("", title, "One"), other("", changed, "Two")])) == count
    assert title_similarity(long, long.replace("g", "b", 1)) == 0.95


def test_h3_a_discussion_with_an_issues_title_or_text_is_another_result_but_not_with_its_address() -> None:
    one = issue(1, "It crashes", text="Same text")
    thread = other("https://github.com/acme/app/discussions/7", "It crashes", "Same text")
    assert len(collapse([one, thread])) == 2
    assert len(collapse([one, other("https://redirect.github.com/acme/app/issues/1#issuecomment-5")])) == 1


def test_h3_nothing_is_not_alike() -> None:
    assert len(collapse([other("", "", ""), other("", " ", " ")])) == 2


texts = st.text(max_size=30)


@given(texts, texts)
def test_h3_title_similarity_is_symmetric_and_a_share(one: str, two: str) -> None:
    similarity = title_similarity(one, two)
    assert similarity == title_similarity(two, one)
    assert 0 <= similarity <= 1
    assert title_similarity(one, one) == 1


@given(texts)
def test_h3_content_hash_forgets_space_and_case(text: str) -> None:
    assert content_hash(f"  {text}\n\n") == content_hash(text)
    assert content_hash("Straße  A\tB") == content_hash("STRASSE a b") != content_hash("strasse ab")


documents = st.lists(
    st.builds(
        Document,
        st.sampled_from(["", "", "a/b#1", "A/B#1", "a/b#2"]),
        st.sampled_from(["", "https://x.example/1", "http://x.example/1/", "https://github.com/a/b/issues/1"]),
        st.sampled_from(["", "one title here", "One title here", "quite another"]),
        st.sampled_from([(), ("text",), ("Text ",), ("more",)]),
        st.sampled_from([(), ("s",), ("t", "s")]),
    ),
    max_size=8,
)


@pytest.mark.slow
@given(documents)
def test_h2_h3_collapsing_loses_no_source_keeps_the_order_and_is_done_at_once(given_: list[Document]) -> None:
    found = collapse(given_)
    assert {source for one in found for source in one.sources} == {s for one in given_ for s in one.sources}
    left = iter(given_)
    assert all(
        any((one.identity, one.url, one.title) == (kept.identity, kept.url, kept.title) for one in left)
        for kept in found
    )
    identities = [one.identity.lower() for one in found if one.identity]
    assert len(identities) == len(set(identities))
