"""Signing in with GitHub, and who sees what: the repository's pages are for those who may triage there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import sqlalchemy as sa
from flask.testing import FlaskClient

from bot.domain.entities import RepoRef, Repository
from bot.interfaces.dashboard.sign_in import Access
from bot.storage import StoredRepository
from bot.storage.engine import write
from bot.storage.schema import sessions
from bot.web import create_app
from tests.dashboard.conftest import Host, words
from tests.waiting import LONGEST

pytestmark = pytest.mark.slow

PAGES = ("", "/issues/3", "/backlog", "/evaluation", "/feedback", "/settings", "/health")


def cookie(browser: FlaskClient, name: str) -> str:
    found = browser.get_cookie(name)
    assert found is not None
    return found.value


def test_the_dashboard_is_off_where_nobody_can_sign_in(host: Host) -> None:
    without = create_app(host.settings.model_copy(update={"client_secret": ""})).test_client()
    for path in ("/dashboard", "/login", "/dashboard/acme/app"):
        assert without.get(path).status_code == 404


def test_a_visitor_is_asked_to_sign_in(host: Host) -> None:
    browser = host.browser()
    assert "Sign in with GitHub" in browser.get("/dashboard").text
    for page in PAGES:
        answer = browser.get(f"/dashboard/acme/app{page}")
        assert answer.status_code == 302 and answer.location.startswith("/login?next=/dashboard/acme/app")
    assert browser.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "same"}).status_code == 302
    assert browser.post("/dashboard/acme/app/evaluation").status_code == 302


def test_who_signs_in_sees_the_repositories_in_which_they_may_triage(signed_in: Callable[[str], FlaskClient]) -> None:
    home = signed_in("tara").get("/dashboard").text
    assert "acme/app" in home and "acme/secret" not in home
    assert "acme/secret" in signed_in("mona").get("/dashboard").text
    assert "None of the repositories" in signed_in("rita").get("/dashboard").text


def test_pages_are_for_triage_and_up_and_others_cannot_tell_that_they_exist(
    signed_in: Callable[[str], FlaskClient],
) -> None:
    triager, stranger = signed_in("tara"), signed_in("rita")
    for page in PAGES:
        assert triager.get(f"/dashboard/acme/app{page}").status_code == 200, page
        refused = stranger.get(f"/dashboard/acme/app{page}")
        unknown = stranger.get(f"/dashboard/acme/nothing{page}")
        assert (refused.status_code, refused.text) == (unknown.status_code, unknown.text) == (404, refused.text), page
        # A private repository is not shown to who only triages in another one.
        assert triager.get(f"/dashboard/acme/secret{page}").status_code == 404, page


def test_a_hidden_repository_costs_the_same_work_as_one_that_is_not_there(
    host: Host, signed_in: Callable[[str], FlaskClient]
) -> None:
    """How long the answer takes would tell them apart; so would what is asked of GitHub while it is away."""
    browser, faults = signed_in("rita"), host.simulator.sim.faults
    statements: list[str] = []
    browser.get("/dashboard")

    def work(name: str, page: str) -> tuple[int, list[str], int, str]:
        statements.clear()
        before = faults.requests
        answer = browser.get(f"/dashboard/acme/{name}{page}")
        return faults.requests - before, list(statements), answer.status_code, answer.text

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        absent = {page: work("nothing", page) for page in PAGES}
        for page, (requests_, asked, status, _) in absent.items():
            assert requests_ == 0 and asked and status == 404
            assert work("secret", page) == work("app", page) == absent[page], page
        # Nobody knows of it any more, or the App has lost it.
        host.store.repositories.suspend(min(host.simulator.sim.installations), True)
        for page in PAGES:
            assert work("secret", page) == absent[page], page
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_whoever_loses_the_right_loses_the_pages(host: Host) -> None:
    browser = host.browser()
    browser.get(host.come_back(browser, "tara"))
    assert browser.get("/dashboard/acme/app").status_code == 200
    host.simulator.sim.set_permission(host.simulator.sim.repository("acme/app"), "tara", "read")
    # Another web process, which has not asked within the last minute.
    later = host.browser()
    later.set_cookie("doppel_session", cookie(browser, "doppel_session"))
    assert later.get("/dashboard/acme/app").status_code == 404


def test_whoever_loses_the_right_is_not_told_a_private_repositorys_new_name(host: Host) -> None:
    """The session lasts for hours, and the list of repositories shows what they are called now."""
    browser, sim = host.browser(), host.simulator.sim
    browser.get(host.come_back(browser, "mona"))
    assert "acme/secret" in browser.get("/dashboard").text
    sim.set_permission(sim.repository("acme/secret"), "mona", "read")
    renamed = Repository(host.private, RepoRef("acme", "merger"), private=True)
    host.store.repositories.upsert(renamed, min(sim.installations), time.time())
    sim.rename_repository("acme/secret", "merger")
    later = host.browser()
    later.set_cookie("doppel_session", cookie(browser, "doppel_session"))
    assert "merger" not in later.get("/dashboard").text
    # A public one has no secret name, and need not be asked about.
    sim.faults.add("GET /repos/acme/*/collaborators/*", status=502, times=None)
    again = host.browser()
    again.set_cookie("doppel_session", cookie(browser, "doppel_session"))
    assert again.get("/dashboard").status_code == 503
    public = replace(renamed, private=False)
    host.store.repositories.upsert(public, min(sim.installations), time.time())
    assert "acme/merger" in again.get("/dashboard").text


def test_github_is_asked_about_several_private_repositories_at_a_time(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after another, the answers about 250 of them would take longer than a page may."""
    sim, ask, together = host.simulator.sim, Access.allows, threading.Barrier(4)
    for number in range(3):
        one = sim.add_repository(f"acme/plan-{number}", private=True)
        sim.set_permission(one, "mona", "maintain")
        place = Repository(one.id, RepoRef.parse(one.full_name), private=True)
        host.store.repositories.upsert(place, min(sim.installations), time.time())

    def asked(access: Access, repository: StoredRepository, login: str) -> bool:
        together.wait(LONGEST)
        return ask(access, repository, login)

    browser = host.browser()
    browser.get(host.come_back(browser, "mona"))
    monkeypatch.setattr(Access, "allows", asked)
    shown = browser.get("/dashboard").text
    assert all(f"acme/{name}" in shown for name in ("secret", "plan-0", "plan-1", "plan-2"))


def test_what_a_person_may_do_is_asked_anew_after_a_minute() -> None:
    asked, now, may = [], [0.0], [True]

    def may_triage(repository: StoredRepository, login: str) -> bool:
        asked.append((repository.id, login))
        return may[0]

    access = Access(may_triage, lambda: now[0])
    repository = StoredRepository(7, RepoRef("acme", "app"), False, False, 1, False)
    assert access.allows(repository, "tara")
    may[0], now[0] = False, 59.0
    assert access.allows(repository, "Tara")
    now[0] = 60.0
    assert not access.allows(repository, "tara")
    assert len(asked) == 2
    # Where the App has no access, nobody has.
    assert not access.allows(replace(repository, suspended=True), "tara")
    assert not access.allows(replace(repository, installation=None), "tara")
    assert len(asked) == 2


def test_a_forged_session_is_none(host: Host, signed_in: Callable[[str], FlaskClient]) -> None:
    signed_in("tara")
    with host.store.engine.connect() as connection:
        (stored,) = connection.execute(sa.select(sessions.c.key)).scalars()
    # Whoever reads the store has nothing that they could sign in with.
    for value in ("x", "\x00", "ü" * 300, stored):
        browser = host.browser()
        browser.set_cookie("doppel_session", value)
        assert browser.get("/dashboard/acme/app").status_code == 302


@pytest.mark.parametrize(
    ("seconds", "status"),
    [(0, 200), (8 * 3600 - 60, 200), (8 * 3600 + 60, 302), (-5, 200), (-3600, 302)],
    ids=["now", "within eight hours", "over", "at a machine whose clock is behind", "from the future"],
)
def test_how_long_a_session_lasts(
    host: Host, signed_in: Callable[[str], FlaskClient], seconds: float, status: int
) -> None:
    """Behind a balancer the next request may be another machine's: to sign in there again would lead round and back."""
    browser = signed_in("tara")
    with write(host.store.engine) as connection:
        connection.execute(sa.update(sessions).values(at=sessions.c.at - seconds))
    assert browser.get("/dashboard/acme/app").status_code == status


def test_a_sign_in_that_did_not_begin_here_is_refused(host: Host) -> None:
    victim, attacker = host.browser(), host.browser()
    back = host.come_back(attacker, "rita")
    assert victim.get(back).status_code == 400
    assert victim.get_cookie("doppel_session") is None


def test_behind_a_proxy_that_ends_tls_cookies_and_addresses_are_those_of_https(host: Host) -> None:
    browser = host.browser()
    answer = browser.get("/login", headers={"X-Forwarded-Proto": "https"})
    assert parse_qs(urlsplit(answer.location).query)["redirect_uri"] == ["https://localhost/login/callback"]
    assert "Secure" in answer.headers["Set-Cookie"]
    assert "Secure" not in browser.get("/login").headers["Set-Cookie"]


def test_a_code_is_good_once(host: Host) -> None:
    browser = host.browser()
    back = host.come_back(browser, "tara")
    state = cookie(browser, "doppel_sign_in")
    assert browser.get(back).status_code == 302
    browser.set_cookie("doppel_sign_in", state)
    answer = browser.get(back)
    assert answer.status_code == 403 and "bad_verification_code" in answer.text


def test_a_github_that_does_not_answer_a_sign_in_is_told(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = host.browser()
    back = host.come_back(browser, "tara")

    def away(*_: object, **__: object) -> None:
        raise requests.ConnectionError("hush")

    monkeypatch.setattr(requests.Session, "post", away)
    answer = browser.get(back)
    assert answer.status_code == 503
    assert "GitHub does not answer (ConnectionError)" in answer.text and "hush" not in answer.text
    assert browser.get_cookie("doppel_session") is None


def test_who_says_no_to_github_is_told(host: Host) -> None:
    browser = host.browser()
    state = parse_qs(urlsplit(browser.get("/login").location).query)["state"][0]
    answer = browser.get(f"/login/callback?error=access_denied&state={state}")
    assert answer.status_code == 403 and "did not let the App know who you are" in answer.text


@pytest.mark.parametrize(
    ("following", "leads_to"),
    [
        ("/dashboard/acme/app/health", "/dashboard/acme/app/health"),
        ("https://evil.example", "/dashboard"),
        ("//evil.example", "/dashboard"),
        ("/dashboard//evil.example", "/dashboard"),
        ("/dashboard/\\evil.example", "/dashboard"),
        ("/dashboards.evil.example", "/dashboard"),
        ("/dashboard/%0d%0aX:%20y", "/dashboard"),
    ],
)
def test_after_signing_in_one_is_where_one_wanted_to_be_and_never_elsewhere(
    host: Host, following: str, leads_to: str
) -> None:
    browser = host.browser()
    back = host.come_back(browser, "tara", f"/login?next={following}")
    assert browser.get(back).location == leads_to


def test_signing_out_ends_the_session_wherever_it_was_copied_to(
    host: Host, signed_in: Callable[[str], FlaskClient]
) -> None:
    browser, elsewhere, copy = signed_in("tara"), signed_in("tara"), host.browser()
    copy.set_cookie("doppel_session", cookie(browser, "doppel_session"))
    assert copy.get("/dashboard/acme/app").status_code == 200
    browser.post("/logout")
    assert browser.get("/dashboard/acme/app").status_code == 302
    assert copy.get("/dashboard/acme/app").status_code == 302
    assert copy.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "same"}).status_code == 302
    assert elsewhere.get("/dashboard/acme/app").status_code == 200, "another session of the person's goes on"


def test_signing_in_ends_the_session_that_the_browser_had(host: Host, signed_in: Callable[[str], FlaskClient]) -> None:
    browser, copy = signed_in("tara"), host.browser()
    copy.set_cookie("doppel_session", cookie(browser, "doppel_session"))
    browser.get(host.come_back(browser, "rita"))
    assert copy.get("/dashboard/acme/app").status_code == 302


def test_nobody_sees_anything_while_github_cannot_say_who_may(
    host: Host, signed_in: Callable[[str], FlaskClient]
) -> None:
    browser = signed_in("tara")
    host.simulator.sim.faults.add("GET /repos/acme/app/collaborators/*", status=403, times=None)
    answer = browser.get("/dashboard/acme/app")
    assert answer.status_code == 503
    assert "grey" not in answer.text
    # Who did not see it at sign-in learns nothing by the failure either.
    host.simulator.sim.faults.add("GET /repos/acme/secret/collaborators/*", status=403, times=None)
    hidden, unknown = browser.get("/dashboard/acme/secret"), browser.get("/dashboard/acme/nothing")
    assert (hidden.status_code, hidden.text) == (unknown.status_code, unknown.text)
    assert hidden.status_code == 404


@pytest.mark.parametrize("page", ["/dashboard", *(f"/dashboard/acme/app{page}" for page in PAGES)])
def test_a_store_that_is_away_is_told_so_without_its_address(host: Host, page: str) -> None:
    away = host.settings.model_copy(update={"database_url": "postgresql+psycopg://doppel:s3cret@127.0.0.1:1/store"})
    browser = create_app(away).test_client()
    browser.set_cookie("doppel_session", "a name")
    answer = browser.get(page)
    assert (answer.status_code, answer.mimetype) == (503, "text/html")
    assert "The database failed: nothing listens there." in words(answer.text)
    assert "s3cret" not in answer.text and "127.0.0.1" not in answer.text


def test_a_store_that_is_wrong_is_a_fault_and_no_outage(host: Host, signed_in: Callable[[str], FlaskClient]) -> None:
    browser = signed_in("tara")
    with write(host.store.engine) as connection:
        connection.execute(sa.text("drop table signals"))
    assert browser.get("/dashboard/acme/app").status_code == 500
