"""Finding and judging over the index, on both databases."""

from __future__ import annotations

import numpy as np
import pytest
import requests
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bot.domain.report import Reason, ReasonCode
from bot.search.embedding.remote import RemoteModel
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.index.analysis import Analysis
from bot.search.matching import Matcher, Model
from bot.search.matching.explanation import as_written
from bot.text.terms import terms
from tests.finder.conftest import Silent
from tests.index.conftest import HashingModel
from tests.matching.made import an_issue, fill, shared_by


def test_the_same_thing_in_similar_words_comes_first(index: Index) -> None:
    fill(index)
    target = an_issue(9, "Grey map", "I see the markers only; requests of tiles get 403 as the answer")
    with Matcher(index).session(1, target) as session:
        matches = session.judge()
        assert matches[0].number == 2
        assert set(session.found) == {"full-text", "vectors"}
        assert all(numbers[0] == 2 for numbers in session.found.values())
        assert session.problems == ()
        assert "markers" in shared_by(matches[0])[ReasonCode.WORDS]
    assert matches[0].confidence > 3 * matches[1].confidence
    confidences = [match.confidence for match in matches]
    assert confidences == sorted(confidences, reverse=True)


def test_an_issues_own_words_are_no_evidence_about_it(index: Index) -> None:
    """Who looks again at an issue that is in the index by now is told the same."""
    fill(index)
    target = an_issue(9, "Grey map", "I see the markers only; requests of tiles get 403 as the answer")

    def told() -> list[float]:
        with Matcher(index).session(1, target) as session:
            return [match.confidence for match in session.judge() if match.number <= 3]

    before = told()
    index.put(1, [IndexedIssue.of(target)])
    assert told() == before


def test_that_an_issue_says_a_line_itself_makes_no_form_of_it(index: Index) -> None:
    """As a replay has it, which asks about an issue before it is there."""
    fill(index)
    line = "ERROR the exporter could not write its page table"
    index.put(1, [IndexedIssue(n, f"Export number {n} stops", f"{line}\nOn day {n} it did so.") for n in range(11, 15)])
    target = an_issue(15, "No album can be saved", f"{line}\nIt stops in the middle of the pictures.")

    def told() -> dict[int, tuple[float, tuple[Reason, ...]]]:
        with Matcher(index).session(1, target, below=target.number) as session:
            return {one.number: (one.confidence, one.explain()) for one in session.judge()}

    before = told()
    index.put(1, [IndexedIssue.of(target)])
    assert before[12][1][0] == Reason(ReasonCode.MESSAGE, (line,))
    assert told() == before


def test_what_weights_are_learned_from_needs_none(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nobody could learn weights for a feature that the shipped ones do not know."""

    def other_features() -> Model:
        raise ValueError("the weights are for other features")

    monkeypatch.setattr("bot.search.matching.matcher.shipped_model", other_features)
    fill(index)
    with Matcher(index).session(1, an_issue(9, "Grey map")) as session:
        numbers, values = session.compared()
        assert len(numbers) == len(values) > 0
        with pytest.raises(ValueError, match="other features"):
            session.judge()


def test_any_script_is_found_again_in_other_words(engine: sa.Engine) -> None:
    """By words alone, of which no text runs out, however long it goes without a space."""
    told = {
        "打开大文件时应用崩溃": "应用在打开文件时经常崩溃",
        "大きなファイルを開くとアプリが落ちる": "ファイルを開いたらアプリが落ちました",
        "큰 파일을 열면 앱이 종료됩니다": "파일을 열지 않고 앱은 종료",
        "แอปพลิเคชันหยุดทำงานเมื่อเปิดไฟล์ขนาดใหญ่": "เปิดไฟล์แล้วแอปพลิเคชันหยุดทำงานทันที",
        "កម្មវិធីគាំងពេលបើកឯកសារធំ": "បើកឯកសារហើយកម្មវិធីគាំងភ្លាម",
        "يتعطل التطبيق عند فتح ملف كبير": "فتح ملف ثم يتعطل التطبيق فورا",
        "האפליקציה קורסת בעת פתיחת קובץ גדול": "פתיחת קובץ והאפליקציה קורסת",
        "बड़ी फ़ाइल खोलने पर ऐप क्रैश होता है": "फ़ाइल खोलने के बाद ऐप क्रैश",
        "Приложение падает при открытии большого файла": "при открытии файла приложение сразу падает",
    }
    index = Index(engine, TextAnalyser())
    fill(index, *(an_issue(20 + place, title, title * 9) for place, title in enumerate(told)))
    for place, again in enumerate(told.values()):
        with Matcher(index).session(1, an_issue(40, again, again * 9)) as session:
            first = session.judge()[0]
            assert first.number == 20 + place
            assert shared_by(first)[ReasonCode.TITLES]


def test_what_was_asked_is_said_in_the_words_of_the_issue_each_once(index: Index) -> None:
    fill(index)
    target = an_issue(9, "Disks stay awake", "iotop went on: AuthTimeoutError, error E1234; awaking, twenty uploads")
    with Matcher(index).session(1, target) as session:
        (asked,) = (run.query for run in session.runs if run.source == "full-text")
    assert sorted(asked.split()) == sorted(
        ["Disks", "stay", "awake", "iotop", "went", "AuthTimeoutError", "error", "E1234", "twenty", "uploads"]
    )


@given(
    st.lists(st.sampled_from(["getUserName", "user_name", "userName", "crashes", "crash", "日本語", "E1234", "1234"]))
)
def test_written_words_are_those_of_the_text_and_no_term_is_lost(written: list[str]) -> None:
    text = " ".join(written)
    found = as_written(terms(text), text)
    assert len(set(found)) == len(found)
    spaced = [word for word in found if word.isascii()]
    assert set(spaced) <= set(written)
    assert {term for word in found for term in terms(word)} >= {term for term in terms(text) if term.isascii()}


def test_the_target_and_what_came_after_it_are_not_found(index: Index) -> None:
    fill(index, an_issue(7, "Map stays grey", "tiles 403"), an_issue(8, "Map stays grey", "tiles 403"))
    target = an_issue(7, "Map stays grey", "tiles 403")
    with Matcher(index).session(1, target, below=7) as session:
        assert {7, 8}.isdisjoint(match.number for match in session.judge(also=(7, 8)))
    with Matcher(index).session(1, target) as session:
        numbers = [match.number for match in session.judge()]
        assert 7 not in numbers
        assert numbers[0] in (2, 8)


def test_what_was_found_elsewhere_is_judged_too(index: Index) -> None:
    fill(index)
    with Matcher(index).session(1, an_issue(9, "zzz")) as session:
        own = {match.number for match in session.judge()}
        other = next(number for number in range(1, 7) if number not in own) if len(own) < 6 else 6
        assert other in {match.number for match in session.judge(also=(other, 999))}
        assert 999 not in {match.number for match in session.judge(also=(other, 999))}


def test_what_words_find_is_judged_by_them_and_by_the_targets_own_text(index: Index) -> None:
    fill(index)
    target = an_issue(9, "Grey map", "requests of tiles get 403")
    with Matcher(index).session(1, target) as session:
        by_itself = {match.number: match.confidence for match in session.judge()}
    with Matcher(index).session(1, an_issue(9, "Basque"), words="map") as session:
        by_words = {match.number: match.confidence for match in session.judge()}
    assert by_words[2] < by_itself[2]
    with Matcher(index).session(1, target, words="map") as session:
        assert session.judge((2,))[0].confidence == pytest.approx(by_itself[2])
        confidences = [match.confidence for match in session.judge()]
    assert confidences == sorted(confidences, reverse=True)


def test_an_empty_repository_and_an_empty_text_have_an_answer(index: Index) -> None:
    with Matcher(index).session(1, an_issue(1, "Map stays grey")) as session:
        assert session.judge() == session.judge(also=(3,)) == []
    fill(index)
    with Matcher(index).session(1, an_issue(9, "", "")) as session:
        assert all(match.confidence <= 0.1 for match in session.judge())


def test_h1_without_its_model_full_text_goes_on_and_the_failure_is_told(index: Index, engine: sa.Engine) -> None:
    fill(index)
    target = an_issue(9, "Grey map", "requests of tiles get 403")
    with Matcher(Index(engine, TextAnalyser(), Silent())).session(1, target) as session:
        assert session.judge()[0].number == 2
        assert set(session.found) == {"full-text"}
        assert [problem.source for problem in session.problems] == ["vectors"]
    with Matcher(Index(engine, TextAnalyser())).session(1, target) as session:
        assert session.judge()[0].number == 2
        assert set(session.found) == {"full-text"}
        assert session.problems == ()


@pytest.mark.parametrize("dimensions", [64, 96])
def test_h1_vectors_of_another_model_that_came_meanwhile_are_not_compared(
    index: Index, engine: sa.Engine, dimensions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an endpoint is asked for the target's vectors another worker can change those of the repository."""
    fill(index)
    embed, other = index.embed, Index(engine, TextAnalyser(), HashingModel("other", dimensions))

    def overtaken(repo_id: int, analysis: Analysis) -> NDArray[np.float32] | None:
        pair = embed(repo_id, analysis)
        while other.embed_missing(repo_id):
            continue
        return pair

    monkeypatch.setattr(index, "embed", overtaken)
    target = an_issue(9, "Grey map", "requests of tiles get 403")
    with Matcher(index).session(1, target) as session:
        assert session.judge()[0].number == 2
        assert set(session.found) == {"full-text"}
        assert tuple(map(str, session.problems)) == (
            "vectors: the model was changed, and the issues are being embedded anew",
        )


def test_what_fails_is_told_to_readers_without_the_hosts_addresses(
    index: Index, engine: sa.Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Problems stand in comments that everybody can read; the log has the rest."""

    def refuse(*_: object, **__: object) -> None:
        raise requests.ConnectionError("refused")

    fill(index)
    index.forget(1)
    monkeypatch.setattr(requests, "post", refuse)
    remote = Matcher(Index(engine, TextAnalyser(), RemoteModel("http://gpu7.intranet.example:8080/v1", "small")))
    with remote.session(1, an_issue(9, "Grey map", "requests of tiles get 403")) as session:
        assert tuple(map(str, session.problems)) == ("vectors: the model's endpoint did not answer",)
    assert "http://gpu7.intranet.example:8080/v1/embeddings: ConnectionError" in caplog.text
