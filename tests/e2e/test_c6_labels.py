"""C6 `label`: the label `duplicate`, suggested or added once, where there is one and nobody has decided before."""

from __future__ import annotations

import pytest

from bot.domain.decisions import DecisionOutcome
from bot.simulator.state.issues import Issue
from tests.e2e.harness import Doppel
from tests.e2e.judging import certain_from, sure
from tests.e2e.reports import poll, said

TITLE = "Crash while exporting a page to PDF"
BODY = "Exporting raises `PdfRenderError: page 7 has no boundary box` in renderPdfPage since 3.2."


@pytest.fixture(autouse=True)
def first(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    certain_from(monkeypatch, 0.2)
    doppel.read_before(TITLE, BODY)


def again(doppel: Doppel) -> Issue:
    """Somebody reports it again, and asks again."""
    doppel.open(TITLE, BODY)
    doppel.write(2, "/duplicates")
    assert "#1" in doppel.advice(2)
    return doppel.sim.issue(doppel.repo, 2)


def names(issue: Issue) -> list[str]:
    return [label.name for label in issue.labels]


def test_c6_it_is_suggested_once_with_reason_and_confidence(doppel: Doppel) -> None:
    doppel.configure("label: suggest\n")
    issue = again(doppel)
    (made,) = issue.suggestions
    assert made.label is not None
    assert (made.label.name, made.state, made.confidence) == ("duplicate", "pending", "high")
    assert str(made.rationale).startswith("Probably the same as issue 1 (")
    assert names(issue) == []


def test_c6_a_suggestion_that_was_dismissed_is_not_made_again(doppel: Doppel) -> None:
    doppel.configure("label: suggest\n")
    issue = again(doppel)
    doppel.sim.resolve_suggestion(issue, issue.suggestions[0].id, False, "triage-person")
    for use in ("suggest", "add"):
        doppel.configure(f"label: {use}\n")
        doppel.write(2, "/duplicates")
        assert (len(issue.suggestions), names(issue)) == (1, [])
        # The one difference in the comment: with `add` it does not promise that nothing is changed.
        assert ("nothing was changed" in doppel.advice(2)) is (use == "suggest")


@pytest.mark.parametrize(("use", "labels"), [("suggest", []), ("add", ["duplicate"])])
def test_g_a_repository_without_suggestions_notices_nothing(doppel: Doppel, use: str, labels: list[str]) -> None:
    doppel.configure(f"label: {use}\n")
    doppel.repository.suggestions = False
    issue = again(doppel)
    assert (issue.suggestions, names(issue)) == ([], labels)


def test_g_where_the_host_asks_for_an_older_api_nothing_is_set_in_a_suggestions_place(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The host's version is fixed here, and suggestions are moved into its future instead.
    monkeypatch.setattr("handlers.suggestions.SUGGESTIONS_SINCE", "2027-01-01")
    doppel.configure("label: suggest\n")
    issue = again(doppel)
    assert (issue.suggestions, names(issue)) == ([], [])


def test_c6_it_is_added_once_and_never_where_it_was_taken_off(doppel: Doppel) -> None:
    doppel.configure("label: add\n")
    issue = again(doppel)
    assert (names(issue), issue.suggestions) == (["duplicate"], [])
    assert "People decide." in doppel.advice(2) and "nothing was changed" not in doppel.advice(2)
    doppel.do.remove_label(doppel.repo, 2, "duplicate", "triage-person")
    doppel.write(2, "/duplicates")
    assert "#1" in doppel.advice(2)
    assert names(issue) == []


@pytest.mark.parametrize("use", ["suggest", "add"])
def test_c6_without_the_label_there_is_none(doppel: Doppel, use: str) -> None:
    doppel.configure(f"label: {use}\n")
    doppel.sim.delete_label(doppel.repo, "duplicate")
    issue = again(doppel)
    assert (issue.suggestions, names(issue)) == ([], [])
    assert "duplicate" not in doppel.repository.labels


def test_c6_nothing_is_labelled_by_default_nor_where_it_is_unsure(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = again(doppel)
    certain_from(monkeypatch, 1.1)
    doppel.configure("label: suggest\n")
    doppel.write(2, "/duplicates")
    # A minute may have begun since, which the comment then names.
    assert "#1" in doppel.advice(2)
    assert (issue.suggestions, names(issue)) == ([], [])


@pytest.mark.parametrize(
    ("use", "degrees"),
    [
        ("suggest", {0.59: None, 0.6: "medium", 0.84: "medium", 0.85: "high"}),
        ("add", {0.6: None, 0.84: None, 0.85: "added"}),
    ],
)
def test_c6_it_is_suggested_where_likely_and_added_where_very_likely(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch, use: str, degrees: dict[float, str | None]
) -> None:
    # Here it is the shipped probabilities that are tested.
    monkeypatch.undo()
    doppel.configure(f"label: {use}\n")
    for number, (confidence, degree) in enumerate(degrees.items(), start=2):
        sure(monkeypatch, confidence)
        issue = doppel.open(TITLE, BODY)
        assert "#1" in doppel.advice(number)
        done = [one.confidence for one in issue.suggestions] + ["added" for name in names(issue)]
        assert done == ([degree] if degree else []), confidence


def rewrite(doppel: Doppel, title: str, body: str) -> str:
    """The issue turns out to be about something else, or about the same after all; the heading of what is said."""
    doppel.do.edit_issue(doppel.repo, 2, title=title, body=body)
    return doppel.advice(2)


OTHER = ("Fonts of the ruler are too small", "The numbers cannot be read at 300 % on a wide screen.")


def test_c6_what_was_added_is_taken_off_where_it_no_longer_holds(doppel: Doppel) -> None:
    doppel.configure("label: add\n")
    issue = again(doppel)
    doppel.write(2, "/duplicates confidence=1")
    assert "#1" not in doppel.advice(2).partition("closest")[0]
    assert names(issue) == ["duplicate"], "a command that shows less says nothing of the rest"
    assert "#1" not in rewrite(doppel, *OTHER)
    assert names(issue) == []
    assert "#1" in rewrite(doppel, TITLE, BODY)
    assert names(issue) == [], "once"


def test_c6_a_label_stays_that_a_person_has_set(doppel: Doppel) -> None:
    doppel.configure("label: add\n")
    issue = again(doppel)
    doppel.sim.remove_label(doppel.repo, 2, "duplicate", "triage-person")
    doppel.do.add_labels(doppel.repo, 2, "duplicate", actor="triage-person")
    assert "#1" not in rewrite(doppel, *OTHER)
    assert names(issue) == ["duplicate"]


def test_c6_a_label_that_github_refuses_holds_up_nothing(doppel: Doppel) -> None:
    """The look is noted as done, so that an edit which changes nothing does not begin it anew."""
    doppel.configure("label: add\n")
    doppel.sim.faults.add("POST */issues/2/labels", 403, times=None)
    doppel.open(TITLE, BODY)
    assert "#1" in doppel.advice(2)
    (look,) = doppel.services.store.decisions.of_issue(doppel.repository.id, 2)
    assert (look.outcome, [one.number for one in look.shown]) == (DecisionOutcome.POSTED, [1])
    assert names(doppel.sim.issue(doppel.repo, 2)) == []


def test_c6_a_label_that_a_rate_limit_held_back_is_not_the_bots_when_somebody_sets_it(doppel: Doppel) -> None:
    doppel.configure("label: add\n")
    doppel.sim.faults.add("POST */issues/2/labels", "secondary_limit", times=None)
    doppel.open(TITLE, BODY)
    assert names(doppel.sim.issue(doppel.repo, 2)) == []
    assert doppel.services.store.labelled.changes_before(doppel.repository.id, 2) is None and len(doppel.said(2)) == 1


def test_c6b_to_close_is_suggested_once_and_what_people_say_to_it_counts(doppel: Doppel) -> None:
    doppel.configure("suggest_closing: on\nlikely: 0.2\n")
    issue = again(doppel)
    (made,) = issue.suggestions
    assert (made.label, made.state, made.original) == (None, "pending", doppel.sim.issue(doppel.repo, 1))
    assert str(made.rationale).startswith("Probably the same as issue 1 (")
    assert issue.state == "open"
    doppel.sim.resolve_suggestion(issue, made.id, False, "triage-person")
    poll(doppel)
    assert (2, 1, False, "suggestion", "triage", 1.0) in said(doppel)
    doppel.write(2, "/duplicates")
    doppel.said(2)
    assert len(issue.suggestions) == 1


def test_c7_what_people_say_to_a_suggestion_is_about_the_issue_that_it_names(doppel: Doppel) -> None:
    """Since then the comment may have come to name another one first."""
    doppel.configure("suggest_closing: on\nlikely: 0.2\n")
    doppel.open(*OTHER)
    issue = doppel.open(TITLE, BODY)
    (made,) = issue.suggestions
    doppel.do.edit_issue(doppel.repo, 3, title=OTHER[0], body=OTHER[1])
    assert "#2" in doppel.advice(3)
    doppel.sim.resolve_suggestion(issue, made.id, False, "triage-person")
    poll(doppel)
    assert [one[:3] for one in said(doppel) if one[3] == "suggestion"] == [(3, 1, False)]


def test_c6b_a_suggestion_that_is_approved_closes_the_issue_and_is_a_label(doppel: Doppel) -> None:
    doppel.configure("suggest_closing: on\nlikely: 0.2\n")
    issue = again(doppel)
    doppel.do.resolve_suggestion(issue, issue.suggestions[0].id, True, "triage-person")
    assert (issue.state, issue.state_reason, issue.duplicate_of) == (
        "closed",
        "duplicate",
        issue.suggestions[0].original,
    )
    poll(doppel)
    assert (2, 1, True, "suggestion", "triage", 1.0) in said(doppel)


def test_c6b_where_the_feature_is_missing_nothing_is_closed_nor_asked(doppel: Doppel) -> None:
    doppel.configure("suggest_closing: on\nlikely: 0.2\n")
    doppel.repository.suggestions = False
    issue = again(doppel)
    assert (issue.suggestions, issue.state) == ([], "open")
