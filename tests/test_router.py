"""An event reaches the one feature that handles it, and what GitHub no longer shows us is done with."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from bot.deliveries.events import Event, PushEvent
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Forbidden, NotFound, Unavailable
from handlers.router import Route, Router
from handlers.services import Services

PUSH = PushEvent(1, Repository(5, RepoRef("acme", "app"), False))
# The router hands the services on and looks at nothing in them.
SERVICES = cast("Services", object())


def router(error: Exception | None, seen: list[tuple[Event, Any]]) -> Router:
    def handle(event: Event, services: Services) -> None:
        seen.append((event, services))
        if error is not None:
            raise error

    return Router([Route("push", ("",), handle)])


def test_c1_an_event_reaches_its_handler_and_the_log_has_a_line_of_it(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[tuple[Event, Any]] = []
    with caplog.at_level(logging.INFO, "handlers"):
        router(None, seen).dispatch(PUSH, SERVICES)
    assert seen == [(PUSH, SERVICES)]
    assert caplog.messages == ["push on repository:5 handled"]


@pytest.mark.parametrize("error", [NotFound("read acme/app", 404, "Not Found"), Forbidden("read acme/app", 403, "No")])
def test_what_is_out_of_reach_needs_no_work(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[tuple[Event, Any]] = []
    router(error, seen).dispatch(PUSH, SERVICES)
    assert seen == [(PUSH, SERVICES)]
    assert caplog.messages == [f"push on repository:5 dropped: {error}"]


def test_what_github_does_not_show_yet_is_tried_again() -> None:
    with pytest.raises(Unavailable, match="push: not yet visible on GitHub"):
        router(NotFound("read acme/app", 404, "Not Found"), []).dispatch(PUSH, SERVICES, new=True)
    router(Forbidden("read acme/app", 403, "No"), []).dispatch(PUSH, SERVICES, new=True)


def test_an_event_of_another_version_is_left_aside(caplog: pytest.LogCaptureFixture) -> None:
    Router([]).dispatch(PUSH, SERVICES)
    assert caplog.messages == ["push has no handler here"]
