"""Without any settings: the bot speaks where it should and is quiet where it should, on a repository of some size."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Doppel


@pytest.mark.slow
def test_f8_an_issue_that_says_the_same_is_found(busy: Doppel) -> None:
    original = busy.sim.issue(busy.repo, 2)
    again = busy.open(original.title, original.body or "")
    assert f"[#2](https://redirect.github.com/acme/app/issues/2) {original.title}" in busy.advice(again.number)


def test_f8_an_issue_in_other_words_is_found(busy: Doppel) -> None:
    again = busy.open(
        "Dates of photos wrong: DateTimeOriginal without OffsetTimeOriginal is read as UTC",
        "A picture taken at 23:10 in Oslo is shown on the next day. EXIF has no zone, the server takes it as UTC.",
    )
    assert "[#30](https://redirect.github.com/acme/app/issues/30)" in busy.advice(again.number)


@pytest.mark.slow
def test_f8_the_bot_is_quiet_about_what_nobody_reported(busy: Doppel) -> None:
    for title in ("Thank you for this project", "Support the Amiga floppy drive", "help"):
        assert busy.said(busy.open(title, "That would be lovely.").number) == []


@pytest.mark.slow
def test_f8_in_a_repository_of_a_handful_of_issues(doppel: Doppel) -> None:
    doppel.configure("# nothing is set")
    doppel.open("Crash when saving large files", "The app crashes when I save a file of 2 GB.", author="ann")
    doppel.open("Dark mode for the settings page", "Please add it.", author="bob")
    doppel.open("App crashes saving big files", "When I save a large file (3 GB), the application crashes.", "cem")
    doppel.open("Crash when saving large files", "The app crashes when I save a file of 2 GB.", author="dan")
    doppel.open("Printing hangs", "The print dialog never closes.", author="eve")
    assert "/issues/1)" in doppel.advice(3)
    assert "/issues/1)" in doppel.advice(4)
    assert doppel.said(2) == doppel.said(5) == []
