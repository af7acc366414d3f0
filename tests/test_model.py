"""GitHub's names do not tell upper from lower case, and what went wrong is told with its values."""

from __future__ import annotations

import pytest

from bot.domain.entities import IssueRef, RepoRef, name_key, same_login
from bot.domain.errors import Remark, RemarkCode, Unavailable, remark_from


def test_a_repository_goes_by_its_name_in_any_case() -> None:
    """The key is also stored, so its form must stay."""
    assert RepoRef("Octo-Org", "Some.Repo").key == RepoRef("octo-org", "SOME.repo").key == "octo-org/some.repo"


def test_h3_an_issue_is_told_from_others_by_repository_and_number() -> None:
    one = IssueRef(RepoRef("Octo", "Repo"), 12)
    assert one.key == IssueRef(RepoRef("octo", "repo"), 12).key == name_key("OCTO/repo#12") == "octo/repo#12"
    assert one.key != IssueRef(one.repo, 13).key


def test_an_account_goes_by_its_login_in_any_case() -> None:
    assert same_login("Mona", "mONA") and not same_login("mona", "mona-1")


@pytest.mark.parametrize("told", [RemarkCode.SEARCH_LIMIT.of(), RemarkCode.OTHERS.of("no {answer}")])
def test_a_failure_tells_what_it_was_raised_with(told: Remark) -> None:
    assert remark_from(Unavailable(told)) == told
    assert str(Unavailable(told)) == str(told)
    assert remark_from(Unavailable("no {answer}")) == RemarkCode.OTHERS.of("no {answer}")
