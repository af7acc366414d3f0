"""Known traps: series of one author, messages that differ a little, umbrellas, texts that say next to nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from importlib import resources

import numpy as np
import pytest
import sqlalchemy as sa

from bot.domain.entities import NOBODY, Issue
from bot.domain.report import ReasonCode
from bot.search.embedding.local_models import WordLlama
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.matching import Match, Matcher, Model
from bot.search.matching.features import NAMES
from bot.search.matching.probability import LEADERS
from bot.search.matching.weights import UNKNOWN, Comparison, bounds
from tests.matching.made import START, an_issue, fill, shared_by


def judged(index: Index, target: Issue) -> dict[int, Match]:
    with Matcher(index).session(1, target) as session:
        return {match.number: match for match in session.judge()}


TEXT = (
    "Uploading a picture of more than 40 MB from the phone ends after a minute; the proxy answers 413 and the app waits"
)


SERIES = "Uploading a video from the phone ends at once; the proxy answers 415 and the app waits, as with pictures"


def test_a_copy_is_likely_whoever_wrote_it(index: Index) -> None:
    fill(index, an_issue(20, "Large pictures cannot be uploaded", TEXT, author="boje", days=100))
    for author in ("tonje", "boje"):
        assert (
            judged(index, an_issue(30, "Large pictures cannot be uploaded", TEXT, author=author))[20].confidence >= 0.3
        )


@pytest.mark.parametrize("days", [100.01, 101, 120])
def test_what_one_author_files_in_a_row_is_a_series(index: Index, days: float) -> None:
    """The same text by somebody else is likelier to be about the same."""
    fill(index, an_issue(20, "Large pictures cannot be uploaded", TEXT, author="boje", days=100))
    same, other = (
        judged(index, an_issue(30, "Uploading a video ends at once", SERIES, author=author, days=days))[20]
        for author in ("boje", "tonje")
    )
    assert same.confidence < other.confidence
    assert same.score < other.score


def test_where_nobody_knows_who_asks_another_probability_holds(index: Index) -> None:
    """It was learned without authors; the order is one."""
    text = resources.files("bot.search.matching").joinpath("weights.json").read_text(encoding="utf-8")
    data = json.loads(text)
    data[UNKNOWN]["calibration"]["intercept"] -= 3.0
    model = Model.parse(json.dumps(data))
    fill(index, an_issue(20, "Large pictures cannot be uploaded", TEXT, author="boje", days=100))

    def asked(author: str, by: Model) -> dict[int, tuple[float, float]]:
        target = an_issue(30, "Pictures that are large are not uploaded", TEXT[:70], author=author)
        with Matcher(index, by).session(1, target) as session:
            return {match.number: (match.score, match.confidence) for match in session.judge()}

    shipped = Model.parse(text)
    for author in ("tonje", "boje"):
        assert asked(author, model)[20] == pytest.approx(asked(author, shipped)[20])
    for nobody in (NOBODY, "stale-bot"):
        doubted, usual = asked(nobody, model), asked(nobody, shipped)
        assert doubted[20][0] == pytest.approx(usual[20][0])
        assert doubted[20][1] < usual[20][1] / 4


OUTAGE = "Since this morning nobody here can sign in: the page answers 502 after the password was typed"


def test_who_meets_the_same_in_the_same_hour_is_no_series(index: Index) -> None:
    """A series is one person's. Of somebody who is not known it may be."""
    fill(index, an_issue(20, "Signing in fails with 502", OUTAGE, author="boje", days=100))

    def first(author: str, days: float) -> float:
        again = an_issue(30, "Cannot log in", "Bad gateway, 502, when I sign in with my password", author=author)
        return judged(index, replace(again, created_at=START + timedelta(days=days)))[20].confidence

    other = first("tonje", 100.02)
    assert other > first("ghost", 100.02)
    assert other > first("boje", 100.02)
    assert other >= first("tonje", 110)


def copies(count: int, *days: float) -> np.ndarray:
    """Candidates that share every word with the question, and came so long before it."""
    values = np.zeros((count, len(NAMES)))
    values[:, NAMES.index("days")] = np.log1p(days or 100)
    values[:, NAMES.index("words_shared")] = 1
    values[:, NAMES.index("titles")] = 1
    values[:, NAMES.index("length")] = 4
    return values


def test_many_copies_of_one_text_come_from_an_empty_form() -> None:
    for others in (True, False):
        assert least_of(copies(2), others=others) == [0.95, 0.95]
        assert least_of(copies(3), others=others) == [0, 0, 0]


def test_what_many_send_at_once_comes_from_no_form() -> None:
    at_once, now_and_then = copies(9, *range(6), 30, 40, 50), copies(9, *range(4), 20, 30, 40, 50, 60)
    assert least_of(at_once, others=True) == [0.95] * 9
    assert least_of(now_and_then, others=True) == [0] * 9
    assert least_of(at_once, others=False) == [0] * 9, "one person fills in the same form over and over"


@pytest.mark.parametrize(("title", "count"), [("The pump stops", 3), ("tour: [short description of the issue]", 1)])
def test_p2_a_form_that_others_have_not_filled_in_either_is_no_report(title: str, count: int) -> None:
    values, nobody = copies(count), np.zeros(count, dtype=np.bool_)
    pool = Comparison(values, np.arange(count), [title] * count, ~nobody, title, 1_000, nobody)
    least, most = bounds(pool, nobody)
    assert least.tolist() == [0] * count and most.tolist() == [0.1] * count
    _, most = bounds(replace(pool, title="The pump stops", others=nobody), nobody)
    assert most.tolist() == [1.0] * count, "who sends the same again may have filled it in"


def least_of(values: np.ndarray, *, others: bool) -> list[float]:
    """The least that each candidate has, all of which are by somebody else or by the same person."""
    count = len(values)
    pool = Comparison(
        values, np.arange(count), [""] * count, np.full(count, others), "", 1_000, np.zeros(count, dtype=np.bool_)
    )
    least, _ = bounds(pool, np.zeros(count, dtype=np.bool_))
    return list(least.tolist())


TASK = "Please replace the old logger, as agreed"


def test_a_series_with_one_line_for_all_is_told_by_its_titles_whoever_files_it(index: Index) -> None:
    fill(index, an_issue(20, "Move the scanner to the new logger", TASK, author="boje", days=100))
    next_one = an_issue(30, "Move the uploader to the new logger", TASK, author="tonje", days=101)
    assert judged(index, next_one)[20].confidence <= 0.1


@pytest.mark.parametrize(("name", "value"), [("words_shared", 0.99), ("titles", 0.9), ("length", 2.9)])
def test_p2_what_is_word_for_word_the_same_and_more_than_a_line_is_very_likely(name: str, value: float) -> None:
    """Whoever wrote it; "please add this" and "see the log" are soon the same."""
    for others in (True, False):
        values = copies(1)
        assert least_of(values, others=others) == [0.95]
        values[:, NAMES.index(name)] = value
        assert least_of(values, others=others) == [0.95 if name == "length" and others else 0]


def test_however_many_send_one_text_within_an_hour_each_is_told_of_the_first(index: Index) -> None:
    fill(index)
    for number in range(20, 32):
        again = an_issue(
            number, "Large pictures cannot be uploaded", TEXT, author=f"who{number}", days=100 + number / 500
        )
        if number > 20:
            found = judged(index, again)
            assert next(iter(found)) == 20
            assert found[20].confidence >= 0.25, number
        index.put(1, [IndexedIssue.of(again)])


def test_of_copies_the_oldest_that_is_open_comes_first_and_all_are_as_likely(index: Index) -> None:
    one, two, three = (an_issue(number, "Uploads fail", TEXT, days=number) for number in (20, 21, 22))
    fill(index, replace(one, state="closed", closed_at=START + timedelta(days=30)), two, three)
    found = judged(index, an_issue(40, "Uploads fail", TEXT))
    assert list(found)[:3] == [21, 22, 20]
    assert found[21].confidence == found[22].confidence == found[20].confidence


def test_the_oldest_of_more_copies_than_are_judged_one_by_one_comes_first_and_nothing_else_is_as_likely(
    index: Index,
) -> None:
    flood = [an_issue(number, "Uploads fail", TEXT, days=100 + number / 500) for number in range(20, 20 + 2 * LEADERS)]
    fill(index, *flood)
    found = judged(index, an_issue(90, "Uploads fail", TEXT, days=101))
    assert list(found)[: len(flood)] == [one.number for one in flood]
    assert len({found[one.number].confidence for one in flood}) == 1
    assert max(found[number].confidence for number in range(1, 7)) < 0.1 < found[20].confidence


def test_a_common_word_says_little_in_a_small_repository(index: Index) -> None:
    fill(index)
    crash = "> ERROR upload could not store asset: database is locked\n\nWhat now?"
    found = judged(index, an_issue(30, "Pictures are lost", crash))
    assert max(found.values(), key=lambda match: match.confidence).number == 1
    assert found[6].confidence <= 0.1


@pytest.mark.parametrize("count", [2, 3, 4])
def test_among_a_handful_of_issues_not_everything_is_the_same(engine: sa.Engine, count: int) -> None:
    """What is nearest there is not therefore near."""
    told = [
        an_issue(1, "Upload of large pictures fails with error 413", TEXT),
        an_issue(2, "Phone app waits at login", "The app waits when I log in behind the proxy of the company"),
        an_issue(3, "Pictures are rotated", "Pictures from the phone lie on their side"),
        an_issue(4, "Error in settings", "An error is shown in settings"),
    ]
    for model in (None, WordLlama()):
        index = Index(engine, TextAnalyser(), model)
        index.put(1, [IndexedIssue.of(issue) for issue in told[:count]])
        for title in (told[0].title, "Large pictures cannot be uploaded"):
            found = judged(index, an_issue(30, title, TEXT))
            assert max(found.values(), key=lambda match: match.confidence).number == 1
            found.pop(1)
            assert all(match.confidence < 0.8 for match in found.values())
        index.forget(1)


@pytest.mark.parametrize(("title", "body"), [("", ""), ("help", ""), ("it", "does not work"), ("Map", "")])
def test_next_to_nothing_said_is_next_to_nothing_known(index: Index, title: str, body: str) -> None:
    fill(index, an_issue(20, "help", ""), an_issue(21, "Map", ""))
    assert all(match.confidence <= 0.1 for match in judged(index, an_issue(30, title, body)).values())


@pytest.mark.parametrize(
    ("title", "body"), [("something is wrong", "see title"), ("Something went wrong, please help", "It does not work")]
)
def test_a_text_of_empty_words_has_nothing_in_common_with_anything(index: Index, title: str, body: str) -> None:
    told = [
        an_issue(20, "Player: something is wrong with the sound", "It is the wrong one, see the title of the video"),
        an_issue(21, "something is wrong", "see title"),
        an_issue(22, "Something went wrong", "It does not work, see title, please help"),
    ]
    fill(index, *told)
    with Matcher(index).session(1, an_issue(30, title, body)) as session:
        for match in session.judge():
            assert match.confidence <= 0.1
            assert not {ReasonCode.TITLES, ReasonCode.WORDS} & set(shared_by(match))


def test_what_both_have_written_is_named_and_no_more(index: Index) -> None:
    crash = "(worker) Failed to fetch tile 12/2171/1322: 403 today"
    fill(index, an_issue(20, "Maps rotate since 2014, could be the imported tiles", crash))
    target = an_issue(
        30,
        "Rotated maps of 2014: could be an import of tiles",
        "`(browser) Failed to fetch tile 9/271/161: 403 today`",
    )
    with Matcher(index).session(1, target) as session:
        shared = shared_by(next(match for match in session.judge() if match.number == 20))
    assert shared[ReasonCode.MESSAGE] == ("Failed to fetch tile … 403 today",)
    assert set(shared[ReasonCode.TITLES]) == {"maps", "tiles"}


def test_c3_a_message_is_quoted_of_which_half_is_theirs_and_none_of_which_less_is(index: Index) -> None:
    fill(index, an_issue(20, "Import dies", "boot: could not open"))
    for mine, quoted in (("panic: could not open", ("could not open",)), ("panic: could not open it", None)):
        with Matcher(index).session(1, an_issue(30, "Crash", mine)) as session:
            shared = shared_by(next(match for match in session.judge(also=[20]) if match.number == 20))
            assert shared.get(ReasonCode.MESSAGE) == quoted


@pytest.mark.parametrize("title", ["index out of range (2)", "Index out of range #2", "index out of range, part 3"])
def test_a_number_behind_the_title_says_that_this_is_another_one(index: Index, title: str) -> None:
    """ "index out of range (2)" beside "index out of range"."""
    fill(index, an_issue(20, "index out of range", TEXT, author="boje", days=100))
    assert judged(index, an_issue(30, title, TEXT, author="tonje", days=101))[20].confidence <= 0.1
    assert judged(index, an_issue(30, "index out of range", TEXT, author="tonje", days=101))[20].confidence >= 0.3


SIBLING = "As with pictures, and yet another thing: the proxy answers 413 and the form turns forever after sending"


@pytest.mark.parametrize("title", ["Large videos cannot be uploaded", "Large pictures cannot be printed"])
def test_a_sibling_is_told_by_a_word_of_its_title(index: Index, title: str) -> None:
    """The same sentence about something else."""
    fill(index, an_issue(20, "Large pictures cannot be uploaded", TEXT, author="boje", days=100))

    def first(title: str, author: str, body: str = SIBLING) -> Match:
        return judged(index, an_issue(30, title, body, author=author, days=101))[20]

    bent = first("Large pictures cannot be upload", "tonje")
    assert bent.confidence >= 0.2
    assert first(title, "tonje").confidence <= 0.1
    # Somebody else's very text is that, whatever is above it; one's own may be a series.
    assert first(title, "tonje", TEXT).confidence >= 0.25
    assert first(title, "boje", TEXT).confidence <= 0.1


@pytest.mark.parametrize(
    "title", ["[2.x backport] Large pictures cannot be uploaded", "Backport: pictures are refused"]
)
def test_who_asks_for_a_backport_knows_the_issue(index: Index, title: str) -> None:
    fill(index, an_issue(20, "Large pictures cannot be uploaded", TEXT, author="boje", days=100))
    assert judged(index, an_issue(30, title, TEXT, author="tonje", days=101))[20].confidence <= 0.1


def test_an_umbrella_does_not_come_before_what_it_gathers(index: Index) -> None:
    gathers = "Everything about uploads: errors, LS-2014, database is locked, grey map, videos, rotation, disks, sleep"
    fill(index, an_issue(20, "Umbrella: all open problems", gathers))
    found = judged(index, an_issue(30, "Videos are rotated", "portrait videos lie on their side in the player"))
    assert max(found.values(), key=lambda match: match.score).number == 3
