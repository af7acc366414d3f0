"""`doppel evaluate` as people call it with a file, and with answers that were given."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.quality.evaluation.wording import threshold
from tests.calling import call, write_lines
from tests.evaluation.conftest import figures
from tests.evaluation.made_up import rows

pytestmark = pytest.mark.slow

FEW = "Too few to say where the threshold should be: 12 known duplicates (20 are needed)."


def test_given_answers_are_judged_as_the_replay_that_made_them(tmp_path: Path) -> None:
    issues = rows(32)
    file, out = write_lines(tmp_path / "issues.jsonl", issues), tmp_path / "answers.jsonl"
    assert call("replay", file, "--out", out, "--from", "0").exit_code == 0
    given, own = figures(file, "--from", "0", "--answers", out), figures(file, "--from", "0")
    # The file of answers rounds a confidence to six digits.
    assert given["RR@10"] == own["RR@10"]
    assert given["calibration"]["ece"] == pytest.approx(own["calibration"]["ece"], abs=1e-5)
    assert [row["comments"] for row in given["thresholds"]] == [row["comments"] for row in own["thresholds"]]
    marked = sum("duplicate_of" in row for row in issues)
    assert (own["issues"], own["duplicates"], own["silent"]) == (32, marked, 32 - marked)
    assert own["RR@1"] == 1, "they say the same"
    low, high = own["intervals"]["RR@10"]
    assert 0.5 < low < 0.9 < high == 1, "five of them prove no more"
    assert [row["cut"] for row in own["thresholds"]] == [step / 20 for step in range(1, 20)]
    assert own["min_confidence"]["cut"] == MIN_CONFIDENCE
    assert own["bothered"]["1%"]["false_alarms"] <= 0.01


def test_answers_that_are_missing_count_as_nothing_found(file: Path, tmp_path: Path) -> None:
    marked = [row for row in rows() if "duplicate_of" in row]
    one = {"id": marked[0]["id"], "candidates": [{"id": marked[0]["duplicate_of"], "confidence": 0.9}]}
    answers = write_lines(tmp_path / "answers.jsonl", [one])
    result = call("evaluate", file, "--from", "0", "--answers", answers, "--json")
    assert json.loads(result.stdout)["RR@1"] == pytest.approx(1 / len(marked))
    assert "59 of 60 arrivals have no answer" in result.stderr


def test_a_sample_is_a_third_duplicates_and_stands_for_all(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "issues.jsonl", rows(24))
    found = figures(file, "--from", "0", "--sample", "9", "--min-confidence", "0")
    assert (found["asked"], found["arrivals"], found["duplicates"], found["silent"]) == (9, 24, 3, 6)
    assert found["min_confidence"]["comments"] > 9, "each stands for several"


def test_people_read_sentences_and_tables(file: Path, replayed: Path) -> None:
    result = call("evaluate", file, "--from", "0", "--answers", replayed, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.startswith("60 issues, of which 60 can be judged: 12 known duplicates, and 48 that nobody marked.")
    assert "100% of the known duplicates have an original among the first five candidates" in text
    assert FEW in text
    assert f"{threshold(MIN_CONFIDENCE)} as set" in text
    assert "which is set" not in text, "what is said of it below is said once"
    assert "readers found two to five times as many duplicates as were marked" in text
    first_five, by_threshold = text.index("among the first five candidates"), text.index("it would have commented on")
    assert first_five < by_threshold and text.index("RR@5") < text.index("Speaking"), "what was found comes first"
    assert "recommended" not in text


def test_where_nobody_marked_a_duplicate_it_says_how_often_it_would_speak_and_of_what(
    tmp_path: Path, replayed: Path
) -> None:
    """And how many of these are the same, by the confidence alone."""
    plain = [{key: value for key, value in row.items() if key != "duplicate_of"} for row in rows()]
    file = write_lines(tmp_path / "plain.jsonl", plain)
    result = call("evaluate", file, "--from", "0", "--answers", replayed, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    assert "no issue is known to be a duplicate. In a file `duplicate_of` names the original's id" in result.stderr
    said = " ".join(result.stdout.split())
    found = figures(file, "--from", "0", "--answers", replayed)
    at = found["min_confidence"]
    assert (found["duplicates"], found["silent"]) == (0, 60) and at["comments"] >= 10
    assert "These are the likeliest pairs. Read some" in said and plain[found["unmarked"][0]["id"] - 1]["title"] in said
    assert said.endswith(" Mark a few duplicates in duplicate_of, and evaluate again, to see how many the bot finds.")
    table = [line.split() for line in result.stdout.splitlines() if " as set " in line]
    same = f"{at['said'] / at['comments'] * 100:.0f}%"
    assert [row[3:] for row in table] == [
        [f"{at['monthly']['comments']:.1f}", same, f"{at['false_alarms'] * 100:.0f}%"]
    ]
    for word in ("by mark", "caught", "of the others", "RR@", "confidence is how likely"):
        assert word not in said


def test_marks_that_name_no_issue_of_the_file_are_told(tmp_path: Path, replayed: Path) -> None:
    """As where ids are numbers here and texts there."""
    told = [
        row | {"duplicate_of": str(row["duplicate_of"])} if row["id"] > 40 and "duplicate_of" in row else row
        for row in rows()
    ]
    astray = [row for row in told if isinstance(row.get("duplicate_of"), str)]
    result = call("evaluate", write_lines(tmp_path / "issues.jsonl", told), "--from", "0", "--answers", replayed)
    assert result.exit_code == 0
    id, of = astray[0]["id"], astray[0]["duplicate_of"]
    says = (
        f"in {len(astray)} of 12 marked issues, duplicate_of is not the id of another issue there (in {id} it is "
        f"{of!r}); these issues are left out."
    )
    assert says in result.stderr
    assert f": {12 - len(astray)} known duplicates, and 48 that nobody marked" in " ".join(result.stdout.split())


def test_people_can_read_the_likeliest_of_those_that_nobody_marked(file: Path, tmp_path: Path) -> None:
    told = rows()
    told[40] |= {"title": f"{told[38]['title']}\x1b[31m"}
    answers = [{"id": 41, "candidates": [{"id": 39, "confidence": 0.52}]}]
    given = ("--answers", write_lines(tmp_path / "answers.jsonl", answers))
    file = write_lines(tmp_path / "issues.jsonl", told)
    text = call("evaluate", file, "--from", "0", *given, env={"COLUMNS": "100"}).stdout
    part = text[text.index("These are the likeliest pairs that nobody marked as duplicates") :].split("\n\n")[1]
    assert " ".join(part.split()) == f"• 52% #41 {told[38]['title']} [31m #39 {told[38]['title']}"


def test_the_picture_is_one_file_of_escaped_text(tmp_path: Path, replayed: Path) -> None:
    file = write_lines(tmp_path / "a<script>&b.jsonl", rows())
    picture = tmp_path / "picture.svg"
    assert call("evaluate", file, "--from", "0", "--answers", replayed, "--picture", picture).exit_code == 0
    tree = ElementTree.parse(picture)
    tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in tree.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "text", "line", "path", "polyline", "circle"}
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "How Doppel would have done: a<script>&b.jsonl"
    for label in ("known duplicates caught", "comments that are marked", "confidence of the first candidate", "100%"):
        assert label in texts
    assert "http" not in picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
