"""H and issue 3's items 3 and 5 in the running bot: from the signed webhook to the comment."""

from __future__ import annotations

from bot.storage.decisions import KEPT_DAYS
from tests.e2e.harness import Doppel

FIRST = ("Login fails with error E1234 on Safari", "It says `AuthTimeoutError` and E1234.")
AGAIN = ("Safari: login fails with E1234", "I get AuthTimeoutError with E1234 when I log in.")
LINK = "[#{0}](https://redirect.github.com/acme/app/issues/{0})"


def searches(comment: str) -> str:
    """The folded list of what was asked."""
    return comment.partition("**Searches**\n\n")[2].partition("\n\n**")[0]


def test_before_the_backfill_githubs_searches_answer_alone(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    with doppel.before_backfill():
        doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    assert LINK.format(1) in comment
    asked = searches(comment)
    assert "- `repo:acme/app is:issue in:title Safari login fails E1234` – 2 results (GitHub's search)" in asked
    assert "index" not in asked


def test_h1_after_it_the_index_answers_with_reason_confidence_and_sources(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    before = doppel.searches()
    doppel.open(*AGAIN)
    assert doppel.searches() - before == 1, "the search by meaning alone"
    (comment,) = doppel.said(2)
    shown = comment.partition("\n\n<details>")[0]
    assert f"1. {LINK.format(1)} Login fails with error E1234 on Safari" in shown
    assert "   - CONFIDENCE · open · reported" in shown
    assert "   - Names in common: " in shown
    asked = searches(comment)
    assert " – 1 result (the full-text index)" in asked
    assert " – 1 result (the semantic index)" in asked
    assert "- `#1` – found by: the full-text index, the semantic index" in comment
    assert "(GitHub's search)" not in asked


def test_h4_settings_choose_the_sources(doppel: Doppel) -> None:
    doppel.configure("sources: {github-search: on, github-hybrid: off, vectors: off, pull-requests: on}\n")
    doppel.read_before(*FIRST)
    doppel.sim.open_issue(
        doppel.repo, "bob", "Mend the login on Safari (E1234)", "AuthTimeoutError", is_pull_request=True
    )
    doppel.open(*AGAIN)
    (comment,) = doppel.said(3)
    asked = searches(comment)
    assert "(the full-text index)" in asked
    assert asked.count("(GitHub's search)") == 3, "of four searches pull requests take one"
    assert "(pull requests)" in asked
    assert "meaning" not in asked


def test_h6_siblings_and_the_hosts_list_reach_the_comment_and_private_ones_never(doppel: Doppel) -> None:
    lib, secret = f"{doppel.owner}/lib", f"{doppel.owner}/secret"
    for name, private in ((lib, False), (secret, True)):
        doppel.sim.add_repository(name, private=private)
        doppel.do.install(name)
        with doppel.paused():
            doppel.do.open_issue(name, "ann", f"Login fails with E1234 on Safari in {name[-3:]}", AGAIN[1])
    doppel.configure(f"siblings: [{lib}, {secret}]\nmin_confidence: 0\n")
    doppel.open(*AGAIN)
    (comment,) = doppel.said(1)
    assert f"{lib}#1](https://redirect.github.com/{lib}/issues/1)" in comment
    assert "secret" not in comment
    assert "ret\n" not in comment
    assert "1 of 2 left out: not a public repository of this owner" in comment
    doppel.sim.set_private(lib, True)
    doppel.write(1, "/duplicates")
    (comment,) = doppel.said(1)
    assert lib not in comment
    assert "Login fails" not in comment
    assert "2 of 2 left out: not a public repository of this owner" in comment


def test_h6_a_known_issue_is_always_considered(doppel: Doppel) -> None:
    doppel.configure("known_issues: [1]\nmin_confidence: 0\n")
    doppel.open("Nothing works any more", "The office network is slow on Mondays.", author="ann")
    doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    assert "- `#1` – 1 result (known issues)" in searches(comment)
    assert LINK.format(1) in comment


class TestDuplicatesResolved:
    """Item 5."""

    def test_what_the_text_names_is_not_told_again_until_a_command_asks(self, doppel: Doppel) -> None:
        doppel.read_before(*FIRST)
        doppel.open(AGAIN[0], f"{AGAIN[1]} Perhaps like #1?")
        assert doppel.said(2) == []
        doppel.write(2, "/duplicates")
        assert " · already mentioned in this issue\n" in doppel.advice(2)

    def test_naming_what_the_comment_shows_does_not_empty_it(self, doppel: Doppel) -> None:
        doppel.read_before(*FIRST)
        doppel.open(*AGAIN)
        assert LINK.format(1) in doppel.advice(2)
        doppel.do.edit_issue(doppel.repo, 2, body=f"{AGAIN[1]} Thanks, that is #1.")
        assert f"{LINK.format(1)} " in doppel.advice(2)
        assert "already mentioned" in doppel.advice(2)


def test_h6_a_permission_that_was_just_given_is_used(doppel: Doppel) -> None:
    doppel.configure("sources: {discussions: on}\nmin_confidence: 0\n")
    doppel.sim.start_discussion(doppel.repo, "ann", *FIRST)
    doppel.open(*AGAIN)
    doppel.write(2, "/duplicates")
    (comment,) = doppel.said(2)
    assert "the App lacks the permission to read discussions" in comment
    permissions = {**doppel.sim.app.permissions, "discussions": "read"}
    doppel.do.set_permissions(doppel.owner, permissions)
    doppel.write(2, "/duplicates")
    (comment,) = doppel.said(2)
    assert "discussions/1) Login fails with error E1234 on Safari" in comment
    assert "lacks the permission" not in comment


def test_c4_a_wrong_pull_request_or_discussion_can_be_rejected_and_taken_back(doppel: Doppel) -> None:
    doppel.configure("sources: {pull-requests: on, discussions: on}\nmin_confidence: 0\n")
    doppel.sim.set_permissions(doppel.owner, {**doppel.sim.app.permissions, "discussions": "read"})
    doppel.sim.start_discussion(doppel.repo, "ann", *FIRST)
    doppel.do.open_issue(
        doppel.repo, "bob", "Mend the login on Safari (E1234)", "AuthTimeoutError", is_pull_request=True
    )
    doppel.open(*AGAIN)
    links = ("/app/discussions/1)", "/app/pull/2)")

    def named() -> list[bool]:
        shown = doppel.said(3)[0].partition("\n\n<details>")[0]
        return [link in shown for link in links]

    assert named() == [True, True]
    doppel.write(3, "/duplicates not #2")
    assert named() == [True, False]
    doppel.write(3, f"/duplicates not https://github.com/{doppel.repo}/discussions/1")
    assert named() == [False, False]
    doppel.write(3, "/duplicates undo")
    assert named() == [True, False]
    kept = doppel.services.store.decisions
    kept.prune(doppel.services.now() + (KEPT_DAYS + 1) * 86_400)
    assert kept.of_issue(doppel.repository.id, 3) == []
    doppel.write(3, "/duplicates not #1")
    assert named() == [False, False], "comments stand for longer than it is kept what they showed"
    doppel.write(3, "/duplicates not #99")
    assert "There is no issue " in doppel.said(3)[-1]


def test_c6_what_went_wrong_is_said_in_the_comments_language(doppel: Doppel) -> None:
    doppel.configure(
        "language: de\nmin_confidence: 0\nsources: {discussions: on}\nknown_issues: [1, 99]\n"
        f"siblings: [{doppel.owner}/secret]\n"
    )
    doppel.read_before(*FIRST)
    with doppel.before_backfill():
        doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    assert "- `#1 #99` – 1 Treffer, 1 nicht gefunden (bekannte Issues)" in comment
    reason = "1 von 1 ausgelassen: kein öffentliches Repository dieses Besitzers und auch nicht vom Betreiber erlaubt"
    assert f"\n- siblings: {reason}" in comment.partition("<details>")[2]
    assert "keine Antwort, der App fehlt die Berechtigung, Diskussionen zu lesen (Diskussionen)" in comment


def test_h6_what_was_closed_for_again_and_again_is_known_without_being_named(doppel: Doppel) -> None:
    """The next report has none of its words."""
    doppel.open("Palette cannot be opened", "Ctrl+K does nothing.", "ann")
    for number in range(2, 5):
        doppel.open(f"Nothing happens {number}", f"Report {number}.", f"author-{number}")
        doppel.said(number)
        doppel.do.close_issue(doppel.repo, number, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 1))
    doppel.configure("sources: {full-text: on, vectors: off, github-hybrid: off, github-similar: off}\n")
    doppel.open("Shortcut is dead", "Since Monday.", "dan")
    doppel.said(5)
    (look,) = doppel.services.store.decisions.of_issue(doppel.repository.id, 5)
    (known,) = [one for one in look.evidence if one.number == 1]
    assert "known-issues" in known.sources
