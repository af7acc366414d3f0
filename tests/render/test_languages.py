"""C3, C6: what is said in each language, whole; and that no text of any language or repository does any harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.conversation.marker import ADVICE, fingerprint
from bot.conversation.messages.catalogue import LANGUAGES, Messages, declared, english, messages_for
from bot.conversation.render.comment import explain, render_comment
from bot.conversation.render.escape import RepoLinks
from bot.conversation.render.replies import Replies, render_reply
from bot.domain.entities import BODY_MAX
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.feedback import FeedbackKind
from bot.domain.report import QueryRun, Reason, ReasonCode, SearchOutcome
from bot.quality.calibration import Threshold, ThresholdOrigin
from bot.quality.digest import CommentRating, Digest, DigestLine
from bot.quality.digest_text import DigestView, render_digest, threshold_words
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, GroupMember, ScanResult
from bot.quality.scanning.markdown import render_scan
from tests.render import languages
from tests.render.reading import PHRASE, Page, read
from tests.render.samples import CHECKED_AT, candidate, report, view
from tests.render.test_escape import HOSTILE

LINKS = RepoLinks("acme/app")
OURS = re.compile(r"<!-- doppel:\w+ v1 \w+ -->\n?|</?span>|<details>\n<summary>[^\n]*</summary>\n|</details>\n?")

BOX = re.compile("<!-- 7 8 (same|other) -->")
"""How the digest knows its boxes again."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_c6_the_whole_of_what_is_said(language: str) -> None:
    expected = (languages.SNAPSHOTS / f"{language}.md").read_text(encoding="utf-8")
    assert languages.everything(messages_for(language, {})) == expected


@pytest.mark.parametrize("labels", [False, True])
def test_c6_what_a_repository_says_below_the_candidates_holds_where_the_bot_labels_too(labels: bool) -> None:
    say = messages_for("en", {"people_decide": "See `CONTRIBUTING.md`."})
    assert "\nSee `CONTRIBUTING.md`.\n" in render_comment(report(candidate()), view(say=say, labels=labels))


def test_c6_a_repositorys_own_summary_is_shown_as_its_other_texts_are() -> None:
    """It stands in HTML, where GitHub reads no Markdown."""
    say = messages_for("en", {"summary": "**How** [this] was found | `doppel` <b> & $1"})
    body = render_comment(report(candidate()), view(say=say))
    shown = "<strong>How</strong> [this] was found | <code>doppel</code> &lt;b&gt; &amp; <span>$</span>1"
    assert f"<details>\n<summary>{shown}</summary>\n" in body


@pytest.mark.parametrize("language", LANGUAGES)
def test_c6_every_text_is_said_in_the_samples(language: str) -> None:
    """So that the snapshots show all of them, and none is there in vain."""
    said: set[str] = set()

    class Listening(Messages):
        def fill(self, name: str, values: object) -> str:
            said.add(name)
            return super().fill(name, values)  # type: ignore[arg-type]

    plain = messages_for(language, {})
    languages.everything(Listening(plain.locale, plain._forms))
    assert set(declared()) - said == languages.SAID_ELSEWHERE


def test_c3_the_dollar_signs_of_two_titles_of_the_digest_make_no_formula() -> None:
    """They stand in one paragraph, and in each title there is but one of them."""
    at = CHECKED_AT.timestamp()
    week = Digest(at, at, 1, 1, 1, 0, 0, 0, (DigestLine(7, at, True, 8, 0.5, CommentRating.UNKNOWN, ()),))
    titles = {7: "$ref is not resolved", 8: "Price shows 5$"}
    body = render_digest(
        DigestView(week, titles, Threshold(0.2, ThresholdOrigin.USUAL), LINKS, CHECKED_AT, messages_for("en", {})), {}
    )
    assert "<span>$</span>ref is not resolved" in body and "Price shows 5<span>$</span> (50%)" in body
    assert body.count("$") == body.count("<span>$</span>") == 2


@pytest.mark.parametrize(
    ("language", "right", "wrong"), [("en", "2.5", "0.1"), ("de", "2,5", "0,1"), ("ja", "2.5", "0.1")]
)
def test_c6_weights_have_the_decimal_sign_of_their_language(language: str, right: str, wrong: str) -> None:
    said = threshold_words(Threshold(0.3, ThresholdOrigin.FEEDBACK, 2.5, 0.1), messages_for(language, {}))
    assert right in said and wrong in said


def hostile(say: Messages, title: str, reason: str, query: str, problem: str) -> list[str]:
    """Everything that shows strangers' text."""
    found = [
        candidate(
            7,
            title,
            reasons=(Reason(ReasonCode.WORDS, (reason,)), Reason(ReasonCode.MESSAGE, (title,))),
            confidence=0.9,
            workflow_state=query,
        ),
        candidate(8, reason, state="closed", state_reason="completed", reasons=(Reason(ReasonCode.MESSAGE, (title,)),)),
    ]
    runs = (
        QueryRun(problem, query, 3, problem=RemarkCode.OTHERS.of(problem), cached=query),
        QueryRun("vectors", title, None),
    )
    result = report(
        *found,
        queries=runs,
        problems=tuple(SourceProblem(text, RemarkCode.OTHERS.of(text)) for text in (problem, title)),
        outcome=SearchOutcome.DEGRADED,
    )
    replies = Replies(say, LINKS)
    entry = BacklogIssue(7, title, "open", CHECKED_AT)
    groups = (DuplicateGroup(entry, (GroupMember(entry, 0.7, (Reason(ReasonCode.WORDS, (reason,)),)),), 1, 1, 1),)
    at = CHECKED_AT.timestamp()
    week = Digest(
        at, at, 1, 1, 0, 0, 0, 0, (DigestLine(7, at, True, 8, 0.5, CommentRating.WRONG, (FeedbackKind.REACTION,)),)
    )
    digest = DigestView(week, {7: title, 8: reason}, Threshold(0.2, ThresholdOrigin.USUAL), LINKS, CHECKED_AT, say)
    return [
        render_comment(result, view(words=(query, title), say=say)),
        render_reply(5, [(title, replies.github_refused(reason)), (query, explain(result, found[0], LINKS, say))]),
        render_scan(ScanResult(groups, 3, False, 0.5), LINKS, CHECKED_AT, say),
        BOX.sub("", render_digest(digest, {})),
    ]


def check(body: str) -> Page:
    page = read(body)
    assert body.count("<!--") == 1
    assert body.startswith("<!-- doppel:")
    assert page.active == {}
    assert not PHRASE.search(body)
    assert page.images == 0
    assert {link.partition("/issues/")[0] for link in page.links} <= {"https://redirect.github.com/acme/app"}
    assert all(OURS.fullmatch(html) for html in page.html), page.html
    assert len(body) <= BODY_MAX
    return page


@pytest.mark.slow
@example("en", ["_www.example.org", "_GH-12", "*www.example.org*", "~www.example.org"])
@given(st.sampled_from(LANGUAGES), st.lists(HOSTILE, min_size=4, max_size=4))
@settings(max_examples=30)
def test_c3_no_text_of_an_issue_does_anything_in_any_language(language: str, texts: list[str]) -> None:
    for body in hostile(messages_for(language, {}), *texts):
        check(body)


MARKUP = (
    "@ # GH- http: https:// www. mailto: ` `` ``` `x` ** * _ ~~~ | [ ] ( ) ![ <b> <!-- --> </details> & &#64; $ : -"
)
WORDS = "1. > = \\ abcdef0 1234567 duplicate of octocat 5 x \u202e é 文 {{ }}"
PIECES = st.sampled_from([*MARKUP.split(), *WORDS.split(), " ", "\n", "\n\n"])
TEXTS = declared()


@st.composite
def own_texts(draw: st.DrawFn) -> dict[str, str]:
    """Templates for some texts, with gaps anywhere."""
    names = draw(st.lists(st.sampled_from(sorted(TEXTS)), min_size=40, max_size=60, unique=True))
    own = {}
    for name in names:
        gaps = [f"{{{variable}}}" for variable in english().variables(name)]
        piece = st.one_of(PIECES, st.sampled_from(gaps)) if gaps else PIECES
        own[name] = "".join(draw(st.lists(piece, min_size=1, max_size=8)))
    return own


@pytest.mark.slow
@example({"state_regression": ":mailto:"}, [""] * 4)
@example({"among_open": "{count} :smile"}, [""] * 4)
@example({"among_open": "_www.example.org_ and 1234567`x`abcdef0"}, [""] * 4)
@example({"comma": "5"}, ["", "", "", "deadbeef"])
@example({"comma": "abcdef0"}, ["", "", "x", "C"])
@example({"comma": "; ", "settings_hint": "{hint}"}, ["deadbeef"] * 4)
@example({"checked": "of {time}", "box_other": "Duplicate"}, ["Duplicate"] * 4)
@given(own_texts(), st.lists(HOSTILE, min_size=4, max_size=4))
@settings(max_examples=60)
def test_c3_no_text_of_the_settings_does_anything_whatever_fills_it(own: dict[str, str], texts: list[str]) -> None:
    for body in hostile(messages_for("en", own), *texts):
        check(body)


@pytest.mark.slow
@pytest.mark.parametrize("worst", ["$" * 580 + "{v}" * 6, "{v}" * 10 + "@" * 500])
def test_c3_own_texts_never_outgrow_githubs_limit(worst: str) -> None:
    own = {
        name: "".join(worst.replace("v", variable) for variable in english().variables(name)[:1]) or "$" * 600
        for name in TEXTS
    }
    for body in hostile(messages_for("en", own), *["$" * 5_000] * 4):
        assert len(body) <= BODY_MAX
        assert body.startswith("<!-- doppel:")
        assert read(body).active == {}


def test_c2_the_marker_is_the_same_in_every_language_and_the_fingerprint_is_not() -> None:
    bodies = [render_comment(report(candidate()), view(say=messages_for(language, {}))) for language in LANGUAGES]
    assert all(ADVICE.begins(body) and not ADVICE.begins(f"> {body}") for body in bodies)
    assert len({fingerprint(body) for body in bodies}) == len(LANGUAGES)
