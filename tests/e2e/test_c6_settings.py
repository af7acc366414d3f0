"""C6: `.github/doppel.yml` decides how the bot behaves, and is never a reason for it to break."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from bot.github.repository import LARGEST_FILE
from bot.search import issue_forms as forms
from bot.search import repository_settings as settings
from tests.e2e.harness import Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import AGAIN, FIRST


@pytest.fixture(autouse=True)
def first(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)


def owners_file(doppel: Doppel, settings: str, *, private: bool = False) -> str:
    """The owner's `.github` repository with a settings file, which holds since the repository itself has none now."""
    owners = f"{doppel.owner}/.github"
    doppel.sim.add_repository(owners, private=private)
    doppel.sim.write_file(owners, ".github/doppel.yml", settings)
    doppel.sim.install(owners)
    doppel.do.write_file(doppel.repo, ".github/doppel.yml", None)
    return owners


def plan_of_printing(
    doppel: Doppel, body: str = "## Steps to reproduce\n\nPrint.\n\n## Spooler timeout\n\nYes."
) -> str:
    """The comment on an issue with two headings, before the index is complete."""
    doppel.settle()
    with doppel.before_backfill():
        doppel.open("Printing hangs", body)
        doppel.write(2, "/duplicates")
    return doppel.said(2)[0]


def test_c6_mode_off_does_nothing(doppel: Doppel) -> None:
    doppel.configure("mode: off")
    searches = doppel.searches()
    doppel.open(*AGAIN)
    comment = doppel.write(2, "/duplicates")
    assert doppel.said(2) == []
    assert doppel.reactions(comment) == []
    assert doppel.searches() == searches


def test_c6_what_could_not_be_read_while_access_rested_is_read_as_soon_as_it_is_back(doppel: Doppel) -> None:
    doppel.configure("mode: off")
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", "Dark mode for the settings page")
        doppel.sim.suspend(doppel.owner)
    doppel.settle()
    doppel.sim.suspend(doppel.owner, False)
    doppel.open(*AGAIN)
    assert doppel.said(3) == [], "that the file could not be read was not taken for its absence"


def test_c6_mode_shadow_records_what_it_would_have_posted(doppel: Doppel) -> None:
    doppel.configure("mode: shadow\n")
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    kept = doppel.services.store.comments.get(doppel.repository.id, 2)
    assert kept is not None
    assert kept.shown == (1,)
    doppel.write(2, "/duplicates")
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c6_a_host_can_watch_first_until_a_repository_says_otherwise(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = doppel.world.services
    watching = settings.RepositorySettings(running.store, running.clock, "shadow")
    monkeypatch.setattr(doppel.world, "services", replace(running, repository_settings=watching))
    doppel.configure("likely: 0.9\n")
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    assert watching.last_read(doppel.repository.id).mode == "shadow"
    doppel.configure("mode: comment\n")
    doppel.open(*AGAIN, author="cid")
    assert "Crash while exporting to PDF" in doppel.advice(3)


def test_c6_what_was_only_noted_in_shadow_is_no_answer_once_the_bot_speaks(doppel: Doppel) -> None:
    def open_again() -> None:
        doppel.sim.close_issue(doppel.repo, 2, "triage-person", "not_planned")
        doppel.do.reopen_issue(doppel.repo, 2, "triage-person")

    doppel.configure("mode: shadow\n")
    doppel.open("Help", "It broke.")
    doppel.do.edit_issue(doppel.repo, 2, title=AGAIN[0], body=AGAIN[1])
    looks = doppel.services.store.decisions.of_issue(doppel.repository.id, 2)
    open_again()
    assert doppel.services.store.decisions.of_issue(doppel.repository.id, 2) == looks
    doppel.configure("mode: comment\n")
    assert doppel.said(2) == []
    open_again()
    assert "Crash while exporting to PDF" in doppel.advice(2)


@pytest.mark.parametrize(
    "settings",
    [
        "ignore: {authors: [Reporter]}",
        "ignore: {labels: [question]}",
        "ignore: {titles: ['exporting*']}",
        "only_labels: [regression]",
        "min_confidence: 1",
    ],
)
def test_c6_issues_that_are_left_alone(doppel: Doppel, settings: str) -> None:
    doppel.configure(settings)
    doppel.open(*AGAIN, labels=["question"])
    assert doppel.said(2) == []


def test_c6_how_many_and_which_are_shown(doppel: Doppel) -> None:
    for title in ("Dark mode", "German translation", "Logo in the corner", "Faster printing", "Sign in by key"):
        doppel.open(title)
    for author in ("bob", "cem", "dan"):
        doppel.open(*FIRST, author=author)
    doppel.sim.close_issue(doppel.repo, 1, "triage-person", "not_planned")
    doppel.configure("max_candidates: 2\ninclude_closed: false\nmin_confidence: 0\n")
    doppel.open(*FIRST, author="eve")
    advice = doppel.advice(10)
    assert advice.count("redirect.github.com") == 2
    assert "/issues/1)" not in advice
    for number in (7, 8, 9):
        doppel.said(number)


def test_c6_the_budget_of_searches(doppel: Doppel) -> None:
    doppel.configure("search: {budget: 1, hybrid: off}")
    before = doppel.searches()
    with doppel.before_backfill():
        doppel.open(*AGAIN)
    assert doppel.searches() - before == 1
    assert doppel.advice(2)


def test_c6_a_broken_file_counts_as_far_as_it_is_valid_and_is_told_to_who_gives_a_command(doppel: Doppel) -> None:
    doppel.configure("mod: off\nmax_candidates: many\n")
    doppel.open(*AGAIN)
    assert "settings" not in doppel.said(2)[0], "nobody who opens an issue is bothered with it"
    doppel.write(2, "/duplicates")
    assert "line 1, column 1: there is no setting called" in doppel.said(2)[0]
    doppel.write(2, "/duplicates help")
    assert "line 1, column 1: there is no setting called" in doppel.said(2)[1]
    assert "line 2, column 17" in doppel.said(2)[1]


def test_c6_a_push_is_heeded_at_once(doppel: Doppel) -> None:
    doppel.configure("mode: off")
    doppel.open(*AGAIN)
    doppel.configure("mode: comment")
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    assert "Crash while exporting to PDF" in doppel.advice(3)
    doppel.do.write_file(doppel.repo, ".github/doppel.yml", None)
    doppel.configure("mode: off")
    doppel.open(*AGAIN)
    assert doppel.said(4) == []


def test_c6_the_owners_file_holds_where_a_repository_has_none(doppel: Doppel) -> None:
    owners = f"{doppel.owner}/.github"
    doppel.sim.add_repository(owners)
    doppel.sim.install(owners)
    doppel.do.write_file(owners, ".github/doppel.yml", "mode: off")
    doppel.open(*AGAIN)
    assert doppel.advice(2), "the repository's own file counts first"
    doppel.do.write_file(doppel.repo, ".github/doppel.yml", None)
    doppel.open(*AGAIN)
    assert doppel.said(3) == []
    doppel.do.write_file(owners, ".github/doppel.yml", "mode: comment")
    doppel.open(*AGAIN)
    assert doppel.advice(4)


@pytest.mark.parametrize("problems", [1, 2])
def test_c6_what_is_wrong_with_an_owners_private_file_is_not_quoted(doppel: Doppel, problems: int) -> None:
    owners = owners_file(doppel, "project_swordfish: on\nmode: loud\n"[: 60 if problems == 2 else 22], private=True)
    doppel.open(*AGAIN)
    doppel.write(2, "/duplicates")
    doppel.write(2, "/duplicates help")
    told = [
        "The owner's settings have a problem; `doppel check-config` shows it.",
        "The owner's settings have 2 problems; `doppel check-config` shows them.",
    ][problems - 1]
    for said in doppel.said(2):
        assert told in said
        assert "swordfish" not in said
    doppel.do.set_private(owners, False)
    doppel.write(2, "/duplicates help")
    assert "project_swordfish" in doppel.said(2)[2], "what everybody can read can be quoted"


@pytest.mark.parametrize("told", ["in any order", "by its installations first"])
@pytest.mark.parametrize("moved", ["renamed", "transferred", "transferred to one who has the App"])
def test_c6_what_was_an_owners_is_theirs_no_longer_where_it_was_renamed_or_given_away(
    doppel: Doppel, moved: str, told: str
) -> None:
    """GitHub leads on from the former name, so that somebody else's file would decide here."""
    owners, other = f"{doppel.owner}/.github", f"new-{doppel.owner}"
    doppel.sim.add_repository(owners)
    doppel.sim.write_file(owners, ".github/doppel.yml", "mode: off")
    doppel.sim.install(owners)
    doppel.sim.write_file(doppel.repo, ".github/doppel.yml", None)
    if moved == "transferred to one who has the App":
        doppel.sim.add_repository(f"{other}/app")
        doppel.sim.install(other)
    doppel.settle()
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    # The event of the repository itself says more than those of the installations that lose and get it.
    with nullcontext() if told == "in any order" else held_back(doppel, "repository") as deliver_late:
        if moved == "renamed":
            doppel.sim.rename_repository(owners, "former")
        else:
            doppel.sim.transfer_repository(owners, other)
    doppel.settle()
    if deliver_late is not None:
        deliver_late()
    doppel.open(*AGAIN)
    assert doppel.advice(3)


def test_c6_what_is_wrong_with_a_private_file_that_was_an_owners_is_not_quoted(doppel: Doppel) -> None:
    owners = owners_file(doppel, "project_swordfish: on\n", private=True)
    doppel.write(1, "/duplicates help")
    assert "The owner's settings have a problem" in doppel.said(1)[0]
    doppel.do.rename_repository(owners, "former")
    doppel.write(1, "/duplicates help")
    assert "swordfish" not in doppel.said(1)[1]


def test_c6a_an_owners_private_settings_go_with_its_repository(doppel: Doppel) -> None:
    """They are kept with each repository that they hold for."""
    owners = owners_file(doppel, "mode: off", private=True)
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    doppel.do.remove_from_installation(owners)
    doppel.open(*AGAIN)
    assert doppel.advice(3)


def test_f3_headings_of_issue_templates_do_not_count(doppel: Doppel) -> None:
    template = "---\nname: Bug\n---\n\n## Steps to reproduce\n"
    doppel.sim.write_file(doppel.repo, ".github/ISSUE_TEMPLATE/bug.md", template)
    assert "in:title Printing hangs Spooler timeout` –" in plan_of_printing(doppel)


def test_f3_a_picture_beside_the_issue_templates_hides_none_of_them(doppel: Doppel) -> None:
    doppel.sim.write_file(doppel.repo, ".github/ISSUE_TEMPLATE/a.png", "x" * (LARGEST_FILE + 1))
    doppel.sim.write_file(doppel.repo, ".github/ISSUE_TEMPLATE/bug.md", "## Steps to reproduce\n")
    assert "in:title Printing hangs Spooler timeout` –" in plan_of_printing(doppel)


@pytest.mark.parametrize(
    ("repository", "path"),
    [
        ("", ".github/ISSUE_TEMPLATE.md"),
        ("", "issue_template"),
        ("", "docs/Issue_Template.txt"),
        (".github", "ISSUE_TEMPLATE.md"),
    ],
)
def test_f3_headings_of_a_single_issue_template_do_not_count(doppel: Doppel, repository: str, path: str) -> None:
    """Of the time before there was a folder for them, and still in use; of the owner's, too."""
    where = f"{doppel.owner}/{repository}" if repository else doppel.repo
    if repository:
        doppel.sim.add_repository(where)
        doppel.sim.install(where)
    doppel.sim.write_file(where, path, "## Steps to reproduce\n")
    assert "in:title Printing hangs Spooler timeout` –" in plan_of_printing(doppel)


def test_f3_half_a_character_in_an_issue_form_keeps_no_issue_from_being_looked_at(doppel: Doppel) -> None:
    form = r'body: [{attributes: {label: "Steps \ud83d\udc1e"}}, {attributes: {label: "Half \ud83d"}}]'
    doppel.sim.write_file(doppel.repo, ".github/ISSUE_TEMPLATE/bug.yml", form)
    assert "in:title Printing hangs Spooler timeout` –" in plan_of_printing(
        doppel, "## Steps 🐞\n\nPrint.\n\n## Half \ufffd\n\n## Spooler timeout\n\nYes."
    )


def test_c6_what_was_read_before_the_clock_was_set_back_is_read_anew(doppel: Doppel) -> None:
    doppel.do.write_file(doppel.repo, ".github/ISSUE_TEMPLATE/bug.md", "## What went wrong\n")
    services, known = doppel.services, doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None and known.installation is not None
    later = services.now() + 2 * forms.KEPT
    services.store.cached_files.put(known.id, settings._OWN, "mode: off\n", later)
    for name in (forms._HEADINGS, forms._LINES):
        services.store.cached_files.put(known.id, name, "", later)
    github = services.github.installation(known.installation)
    assert services.repository_settings.read(lambda _: github, known.summary).config.mode == "comment"
    assert services.issue_forms.headings(github, known.summary) == ("What went wrong",)
