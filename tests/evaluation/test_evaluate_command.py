"""`doppel evaluate` as people call it with a file, and with answers that were given."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bot.evaluation.report import others_needed
from tests.calling import call, write_lines
from tests.evaluation.evaluating import figures
from tests.evaluation.made_up import START, rows

pytestmark = pytest.mark.slow

FEW = "Too few to say where the threshold should be: 12 known duplicates (20 are needed)."


def test_a_file_is_replayed_and_judged(file: Path) -> None:
    found = figures(file, "--from", "0")
    marked = sum("duplicate_of" in row for row in rows())
    assert (found["issues"], found["duplicates"], found["silent"]) == (60, marked, 60 - marked)
    assert found["RR@1"] == 1, "they say the same"
    low, high = found["intervals"]["RR@10"]
    assert 0.5 < low < 0.9 < high == 1, "twelve of them prove no more"
    assert [row["cut"] for row in found["thresholds"]] == [step / 20 for step in range(1, 20)]
    assert found["min_confidence"]["cut"] == 0.24
    assert found["bothered"]["1%"]["false_alarms"] <= 0.01


def test_labels_are_read_after_the_replay_only(tmp_path: Path) -> None:
    """With other labels the same answers are judged otherwise."""
    plain = rows()
    swapped = [
        row | {"duplicate_of": row["id"] % 7 + 1} if "duplicate_of" in row else row | {"maybe_related": True}
        for row in plain
    ]
    first = figures(write_lines(tmp_path / "a.jsonl", plain), "--from", "0")
    other = figures(write_lines(tmp_path / "b.jsonl", swapped), "--from", "0")
    assert first["RR@1"] == 1
    assert other["RR@1"] < 0.5


def test_given_answers_are_judged_as_the_replay_that_made_them(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    assert call("replay", file, "--out", out, "--from", "0.3").exit_code == 0
    given = figures(file, "--from", "0.3", "--answers", out)
    own = figures(file, "--from", "0.3")
    # The file of answers rounds a confidence to six digits.
    assert given["RR@10"] == own["RR@10"]
    assert given["calibration"]["ece"] == pytest.approx(own["calibration"]["ece"], abs=1e-5)
    assert [row["comments"] for row in given["thresholds"]] == [row["comments"] for row in own["thresholds"]]


def test_answers_that_are_missing_count_as_nothing_found(file: Path, tmp_path: Path) -> None:
    marked = [row for row in rows() if "duplicate_of" in row]
    one = {"id": marked[0]["id"], "candidates": [{"id": marked[0]["duplicate_of"], "confidence": 0.9}]}
    answers = write_lines(tmp_path / "answers.jsonl", [one])
    result = call("evaluate", file, "--from", "0", "--answers", answers, "--json")
    assert json.loads(result.stdout)["RR@1"] == pytest.approx(1 / len(marked))
    assert "1 of 60 arrivals have an answer" in result.stderr
    assert figures(file, "--from", "0", "--answers", answers, "--answered-only")["RR@1"] == 1


def test_a_sample_is_a_third_duplicates_and_stands_for_all(file: Path) -> None:
    found = figures(file, "--from", "0", "--sample", "9")
    assert (found["asked"], found["arrivals"], found["duplicates"], found["silent"]) == (9, 60, 3, 6)
    zero = figures(file, "--from", "0", "--sample", "9", "--min-confidence", "0")["min_confidence"]
    assert zero["comments"] > 9, "each stands for several"


def test_people_read_sentences_and_tables(file: Path, replayed: Path) -> None:
    result = call("evaluate", file, "--from", "0", "--answers", replayed, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.startswith("60 issues, of which 60 can be judged: 12 known duplicates, and 48 that nobody marked.")
    assert "100% of the known duplicates have an original among the first five candidates" in text
    assert FEW in text
    assert ".24 as set" in text
    assert "which is set" not in text, "what is said of it below is said once"
    assert "readers found two to five times as many duplicates as were marked" in text
    first_five, by_threshold = text.index("among the first five candidates"), text.index("it would have commented on")
    assert first_five < by_threshold and text.index("RR@5") < text.index("Speaking"), "what was found comes first"
    assert "recommended" not in text


def test_on_a_narrow_terminal_sentences_keep_to_it_and_no_figure_is_cut_off(file: Path, replayed: Path) -> None:
    def shown(columns: int) -> tuple[str, str, str]:
        text = call("evaluate", file, "--from", "0", "--answers", replayed, env={"COLUMNS": str(columns)}).stdout
        begin, end = text.index("Finding"), text.index("These are the likeliest")
        return text[:begin], text[begin:end], text[end:]

    narrow, usual = shown(50), shown(80)
    assert narrow[0].split() == usual[0].split()
    assert all(40 < max(map(len, part.splitlines())) <= 50 for part in (narrow[0], narrow[2]))
    assert narrow[1] == usual[1]


def test_no_threshold_is_named_that_cannot_be_set(tmp_path: Path) -> None:
    """By their titles alone, issues that are all called the same are surely the same, the new ones too."""
    file = write_lines(tmp_path / "issues.jsonl", [row | {"title": "It crashes"} for row in rows()])
    text = call("evaluate", file, "--from", "0", "--relevance", "title").stdout
    limits = text[text.index("while few others get a comment") :].splitlines()[4:8]
    assert [line.split()[1:3] for line in limits] == [["–", "0%"]] * 4


def test_where_everything_is_a_duplicate_no_threshold_is_said_to_bother_nobody(tmp_path: Path) -> None:
    told = rows(12, every=99) + [row | {"id": row["id"] + 12, "duplicate_of": row["id"]} for row in rows(12, every=99)]
    for number, row in enumerate(told):
        row["created_at"] = (START + timedelta(days=number)).isoformat()
    text = call("evaluate", write_lines(tmp_path / "issues.jsonl", told), "--from", "0.5").stdout
    assert "12 known duplicates, and 0 that nobody" in text
    assert "while few others get a comment" not in text and ".00" not in text
    thresholds = [line.split() for line in text.splitlines() if line.startswith(" .")]
    assert len(thresholds) == 20 and {row[-1] for row in thresholds} == {"–"}
    assert "commented on 0%" not in text, "of none"


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
    month, at = found["min_confidence"]["last_month"], found["min_confidence"]
    assert (found["duplicates"], found["silent"]) == (0, 60) and at["comments"] >= 10
    assert said.startswith(
        "60 issues, of which 60 can be judged: 0 known duplicates, and 60 that nobody marked. None of these is a "
        "known duplicate of an earlier issue, so that it can be said how often it would speak, and not how much"
    )
    days = [(START + timedelta(days=number)).strftime("%Y-%m-%d") for number in (1, 60)]
    assert (
        f"At .24 it would have commented on {month['comments']:.0f} of {month['issues']:.0f} issues in the last month "
        f"(the same report: {month['said']:.0f} by its confidence): the 30 days up to the newest issue, of {days[1]}. "
        "Nobody has triaged these yet, so that what is unmarked among them may be a duplicate all the same. Over the "
        f"whole history, from {days[0]} on and that month included, it would have commented on {at['comments']:.0f} of "
        f"60 issues (the same report: {at['said']:.0f} by its confidence). "
    ) in said
    assert "These are the likeliest. Read some" in said and plain[found["unmarked"][0]["id"] - 1]["title"] in said
    assert said.endswith(" Mark a few duplicates in duplicate_of, and evaluate again: then it says how many it finds.")
    assert "Speaking: comments at each threshold\n" in "".join(
        f"{one.rstrip()}\n" for one in result.stdout.splitlines()
    )
    table = [line.split() for line in result.stdout.splitlines() if line.lstrip().startswith(".24")]
    same = f"{at['said'] / at['comments'] * 100:.0f}%"
    assert table == [[".24", "as", "set", f"{at['monthly']['comments']:.1f}", same, f"{at['false_alarms'] * 100:.0f}%"]]
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
        f"{len(astray)} of 12 duplicate_of are no other issue's id there, as {of!r} of {id}; these issues are left out."
    )
    assert says in result.stderr
    assert f": {12 - len(astray)} known duplicates, and 48 that nobody marked" in " ".join(result.stdout.split())


def test_marks_that_name_the_issue_itself_are_told(tmp_path: Path, replayed: Path) -> None:
    """As where the column with the issue's own id was taken."""
    told = [row | {"duplicate_of": row["id"]} if "duplicate_of" in row else row for row in rows()]
    first = next(row["id"] for row in told if "duplicate_of" in row)
    result = call("evaluate", write_lines(tmp_path / "issues.jsonl", told), "--from", "0", "--answers", replayed)
    says = f"12 of 12 duplicate_of are no other issue's id there, as {first} of {first}; these issues are left out."
    assert says in result.stderr
    assert ": 0 known duplicates, and 48 that nobody marked" in " ".join(result.stdout.split())


def test_without_any_time_months_are_said_to_be_none(tmp_path: Path, replayed: Path) -> None:
    undated = [row | {"created_at": None} for row in rows()]
    said, given = "created_at is null everywhere", ("--answers", replayed)
    assert said in call("evaluate", write_lines(tmp_path / "undated.jsonl", undated), *given).stderr
    assert said not in call("evaluate", write_lines(tmp_path / "one.jsonl", [*undated[:-1], rows()[-1]]), *given).stderr


def test_people_can_read_the_likeliest_of_those_that_nobody_marked(tmp_path: Path) -> None:
    told = rows()
    told[40] |= {"title": f"{told[38]['title']}\x1b[31m", "body": told[38]["body"]}
    file = write_lines(tmp_path / "issues.jsonl", told)
    text = call("evaluate", file, "--from", "0", env={"COLUMNS": "100"}).stdout
    part = text[text.index("These are the likeliest of those that nobody marked as duplicates") :].split("\n\n")[1]
    surest = figures(file, "--from", "0")["unmarked"][0]
    assert (surest["id"], surest["candidate"]) == (41, 39)
    sure = f"{surest['confidence'] * 100:.0f}%"
    assert part.splitlines()[:2] == [f"  {sure:>4} #41 {told[38]['title']} [31m", f"       #39 {told[38]['title']}"]


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's disk that is always full")
@pytest.mark.parametrize("option", ["--picture", "--export"])
def test_what_is_read_is_never_written_over(option: str, file: Path, tmp_path: Path) -> None:
    (read := tmp_path / "answers.svg").write_text('{"id": 1, "candidates": []}\n')
    for source in (file, "acme/app"):
        result = call("evaluate", source, "--answers", read, option, read)
        assert result.exit_code == 2
        assert f"{option}: {read} is one of the files that are read" in result.stderr
    (drawn := tmp_path / "issues.svg").write_bytes(before := file.read_bytes())
    assert call("evaluate", drawn, "--picture", drawn).exit_code == 2
    assert drawn.read_bytes() == before


def test_programs_are_told_the_sentences_that_people_are(file: Path, replayed: Path) -> None:
    found = figures(file, "--from", "0", "--answers", replayed)
    assert found["advice"]["threshold"] is None
    assert found["says"] == {
        "finding": found["says"]["finding"],
        "advice": FEW,
        "last_month": found["says"]["last_month"],
        "history": found["says"]["history"],
    }
    told = " ".join(call("evaluate", file, "--from", "0", "--answers", replayed, env={"COLUMNS": "100"}).stdout.split())
    assert all(sentence in told for sentence in found["says"].values())
    assert found["says"]["last_month"].startswith("At .24 it would have commented on ")
    days = [(START + timedelta(days=number)).strftime("%Y-%m-%d") for number in (1, 60)]
    assert f": the 30 days up to the newest issue, of {days[1]}. Nobody has triaged" in found["says"]["last_month"]
    assert found["says"]["history"].startswith(
        f"Over the whole history, from {days[0]} on and that month included, it would have commented on "
    )
    assert [moment[:10] for moment in found["period"]] == days


def test_of_the_threshold_that_is_set_is_told_beside_another_that_is_recommended(tmp_path: Path) -> None:
    given = rows(350)
    answers = [
        {"id": row["id"], "candidates": [{"id": row["duplicate_of"], "confidence": 0.55}]}
        for row in given
        if "duplicate_of" in row
    ]
    file, told = write_lines(tmp_path / "issues.jsonl", given), write_lines(tmp_path / "answers.jsonl", answers)
    result = call("evaluate", file, "--from", "0", "--answers", told, env={"COLUMNS": "100"})
    text = " ".join(result.stdout.split())
    others = sum("duplicate_of" not in row for row in given)
    assert text.index("At .24, which is set, a month with 31 issues, as those of the last year had on average") < (
        text.index("Recommended is min_confidence: 0.55, since it catches most where surely no more than 8%")
    )
    assert text.count("At .24") == text.count("At .55 it would have commented on") == 1
    assert others >= others_needed(1), "one comment more would not be too many"
