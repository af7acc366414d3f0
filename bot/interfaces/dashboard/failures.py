"""What people are told where a page cannot be shown."""

from __future__ import annotations

import logging

from flask import Blueprint, render_template, request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException

from bot.domain.errors import DoppelError
from bot.storage.failures import passes, why

log = logging.getLogger(__name__)

# Of a page that one may not see no more than of one that is not there.
_REFUSALS = {
    400: "What was sent does not fit what is stored by now. Open the page anew and try again.",
    404: "There is no such page, or none for you: a repository's pages are for who may triage there. "
    "If you may since a short time, sign out and in again.",
}


def tell_failures(pages: Blueprint) -> None:
    """Have failures and refusals of these pages told on a page of the dashboard's."""
    pages.register_error_handler(DoppelError, _unavailable)
    pages.register_error_handler(SQLAlchemyError, _store_failed)
    pages.register_error_handler(HTTPException, _refused)


def _refused(problem: HTTPException) -> tuple[str, int]:
    """Whoever opens a page reads it, and signs out there where another account of theirs would see more."""
    said = _REFUSALS.get(problem.code or 500, f"{problem.name}.")
    return render_template("dashboard/problem.html", problem=said), problem.code or 500


def _store_failed(problem: SQLAlchemyError) -> tuple[str, int]:
    """The store is away, or full: it may be there again for the next look. Any other failure is a fault of ours."""
    if not passes(problem):
        raise problem
    log.warning("%s: the database failed: %s", request.endpoint, why(problem))
    return render_template("dashboard/problem.html", problem=f"The database failed: {why(problem)}."), 503


def _unavailable(problem: DoppelError) -> tuple[str, int]:
    """GitHub or the queue is away: nobody sees anything that they might not be allowed to see."""
    return render_template("dashboard/problem.html", problem=f"{problem}."), 503
