"""J7: `doppel evaluate --judge`: the questions, their cost, answers recorded and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.simulator.language_model import Heard, start_model
from tests.calling import call, write_lines
from tests.evaluation.conftest import figures
from tests.evaluation.made_up import BEGINS, rows
from tests.judge.models import answer, entry, read, saying

pytestmark = pytest.mark.slow


ISSUES = rows(24)
#: Whatever repeats another comes after the first 14.
ASKED = ("--from", "0.6", "--judge", "--floor", "0.01")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Each question of it takes a look, so that here are fewer issues than elsewhere."""
    return write_lines(tmp_path / "issues.jsonl", ISSUES)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def saying_right(heard: Heard) -> str:
    """What begins with the words of those that repeat one, and is among them, is the same."""
    new = read(heard).new.partition(BEGINS)[2]
    return saying(lambda text: "same" if new and new in text else "different")(heard)


def test_j7_questions_go_out_word_for_word_and_answers_come_back(file: Path, tmp_path: Path) -> None:
    questions, answers, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl", tmp_path / "judged.jsonl"
    judge = ("evaluate", file, *ASKED)
    told = call(*judge, "--export-questions", questions, env={"DOPPEL_JUDGE_PRICE_IN": "100"})
    assert told.exit_code == 0 and "nobody was asked" in told.stderr and "That costs about " in told.stderr
    asked = lines(questions)
    assert len({one["question"] for one in asked}) == len(asked) > 0
    said = []
    for one in asked:
        system, user = (message["content"] for message in one["messages"])
        assert one["prompt"] == "judge-3" and one["schema"]["required"] == ["candidates"]
        said.append({"question": one["question"], "answer": json.loads(saying_right(Heard(system, user, {}, {})))})
    said[0]["answer"] = "They are the same."
    answers.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    own = figures(*judge[1:], "--answers", answers, "--out", out)["judge"]
    assert (own["questions"], own["answered"], own["unusable"]) == (len(asked), len(asked) - 1, 1)
    wrong = {name: own[name]["comments"] - own[name]["right"] for name in ("with", "without")}
    assert wrong["with"] <= 1 < wrong["without"], "where nothing was said, the probability decides"
    assert own["without_at_as_many"]["comments"] >= own["with"]["comments"]
    judged = {one["id"]: one["candidates"] for one in lines(out)}
    assert len(judged) == len(ISSUES[14:])
    marked = next(row for row in ISSUES[20:] if "duplicate_of" in row)
    assert judged[marked["id"]][0]["id"] == marked["duplicate_of"]
    assert judged[marked["id"]][0]["confidence"] > 0.9


def test_j7_what_a_model_says_is_recorded_and_not_asked_again(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("openai")
    record = tmp_path / "record.jsonl"
    judge = (*ASKED, "--record", record, "--yes")
    with start_model(saying_right) as model:
        env = {"DOPPEL_JUDGE_URL": model.url, "DOPPEL_JUDGE_MODEL": "reader-1"}
        first = figures(file, *judge, env=env)
        count = len(model.heard)
        assert figures(file, *judge, env=env) == first
    assert len(model.heard) == count == first["judge"]["answered"] == len(lines(record))
    assert {one["model"] for one in lines(record)} == {"reader-1"}


def test_j7_it_says_what_is_missing(file: Path, tmp_path: Path) -> None:
    assert "give --record FILE too" in call("evaluate", file, "--judge").stderr
    told = call("evaluate", file, "--from", "0.8", "--judge", "--record", tmp_path / "record.jsonl")
    assert told.exit_code == 2 and "set DOPPEL_JUDGE_URL and DOPPEL_JUDGE_MODEL" in told.stderr
    assert "--out: this is for --judge" in call("evaluate", file, "--out", tmp_path / "out.jsonl").stderr
    (tmp_path / "bad.jsonl").write_text('{"id": 1, "candidates": []}\n', encoding="utf-8")
    told = call("evaluate", file, "--from", "0.8", "--judge", "--answers", tmp_path / "bad.jsonl")
    assert told.exit_code == 2 and "line 1: a judge's answer has the form" in told.stderr


def test_j7_a_critic_is_asked_what_follows_from_the_answers(file: Path, tmp_path: Path) -> None:
    """By hand, with files, and from an endpoint, which comes to the same."""
    pytest.importorskip("openai")

    def opposing(heard: Heard) -> str:
        if heard.system.startswith("A colleague"):
            (number,) = read(heard).earlier
            return answer(entry(number, "related"))
        return saying_right(heard)

    questions, answers, record = (tmp_path / f"{name}.jsonl" for name in ("questions", "answers", "record"))
    judge = (*ASKED, "--critic")
    count = {}
    answers.touch()
    for prompt in ("judge-3", "critic-3"):
        told = call("evaluate", file, *judge, "--answers", answers, "--export-questions", questions)
        assert "The critic: at most " in told.stderr and "The critic's questions" in told.stderr
        asked = lines(questions)
        assert {one["prompt"] for one in asked} == {prompt}
        count[prompt] = len(asked)
        with answers.open("a", encoding="utf-8") as file_of_answers:
            for one in asked:
                system, user = (message["content"] for message in one["messages"])
                said = {"question": one["question"], "answer": opposing(Heard(system, user, {}, {}))}
                file_of_answers.write(json.dumps(said) + "\n")
    by_hand = figures(file, *judge, "--answers", answers)["judge"]
    assert by_hand["verdicts"]["same"] == 0 < by_hand["verdicts"]["related"]
    assert by_hand["answered"] == sum(count.values()) and by_hand["prompt"] == "judge-3 critic-3"
    with start_model(opposing) as model:
        env = {"DOPPEL_JUDGE_URL": model.url, "DOPPEL_JUDGE_MODEL": "reader-1"}
        assert figures(file, *judge, "--record", record, "--yes", env=env)["judge"] == by_hand
    alone = figures(file, *(one for one in judge if one != "--critic"), "--answers", answers)["judge"]
    assert alone["verdicts"]["same"] > 0 and alone["with"]["comments"] > by_hand["with"]["comments"]
