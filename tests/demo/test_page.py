"""The page: what it shows of the simulated repository, what can be done on it, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from bot.app.demo.page import create_page
from bot.app.demo.scenario import REPOSITORY, ROLES, seed
from bot.simulator import Simulator


@pytest.fixture
def simulator() -> Simulator:
    made = Simulator()
    seed(made, REPOSITORY)
    return made


@pytest.fixture
def client(simulator: Simulator) -> Iterator[FlaskClient]:
    with create_page(simulator, REPOSITORY, list(ROLES)).test_client() as client:
        yield client


def test_the_list_shows_the_newest_issues_and_turns_pages(client: FlaskClient) -> None:
    first = client.get("/").text
    assert "176 issues" in first and "Hard disks never spin down" in first
    assert "Does it modify my originals?" not in first
    assert "Does it modify my originals?" in client.get("/?page=6").text


def test_the_search_is_githubs(client: FlaskClient) -> None:
    assert "3 issues" in client.get("/?q=database+locked").text
    assert "Timeline is slow on my phone" in client.get("/?q=is:open+label:performance+phone").text
    assert "GitHub would answer 422" in client.get("/?q=" + "word+" * 80).text
    assert "Nothing matches" in client.get("/?q=zyzzyva").text


def test_an_issue_shows_its_conversation_and_links_its_references(client: FlaskClient) -> None:
    page = client.get("/issues/62").text
    assert "Road to 1.0" in page
    assert '<a href="/issues/13"' in page and "☑ single writer" in page
    assert "👍 52" in page
    assert "Closed as completed" in page
    assert 'of <a href="/issues/13">' in client.get("/issues/20").text
    missing = client.get("/issues/4711")
    assert missing.status_code == 404
    assert "style.css" in missing.text and '<a href="/">All issues</a>' in missing.text


def test_the_author_is_named_once_and_marked_in_every_comment(client: FlaskClient, simulator: Simulator) -> None:
    made = simulator.open_issue(REPOSITORY, "curious-visitor", "It stops", "At night.")
    simulator.comment(REPOSITORY, made.number, "curious-visitor", "Still.")
    simulator.comment(REPOSITORY, made.number, "ostap-k", "I see.")
    page = client.get(f"/issues/{made.number}").text
    assert page.count('<option value="curious-visitor"') == 1
    assert page.count('<strong>curious-visitor</strong> <span class="label">author</span>') == 2
    assert '<strong>ostap-k</strong> <span class="label">maintain</span>' in page
    own = simulator.open_issue(REPOSITORY, "hedvig-l", "Plans", "")
    assert client.get(f"/issues/{own.number}").text.count('<option value="hedvig-l"') == 1


def test_hostile_titles_and_bodies_stay_text(client: FlaskClient) -> None:
    for path in ("/issues/60", "/?q=is:closed+label:spam"):
        page = client.get(path).text
        assert "<img" not in page and "<script>" not in page
        assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_what_is_written_here_arrives_at_the_simulator(client: FlaskClient, simulator: Simulator) -> None:
    form = {"title": "Zip is empty", "body": "since *today*", "login": "somebody-new"}
    answer = client.post("/issues/new", data=form)
    assert answer.status_code == 303 and answer.location == "/issues/177"
    assert "<em>today</em>" in client.get("/issues/177").text
    client.post("/issues/177/comments", data={"body": "/duplicates\r\nplease", "login": "ostap-k"})
    comment = simulator.comments(REPOSITORY, 177)[0]
    assert (comment.author.login, comment.body) == ("ostap-k", "/duplicates\nplease")
    assert "/duplicates\nplease" in client.get("/issues/177").text
    assert ">maintain<" in client.get("/issues/177").text
    client.post("/issues/177/comments", data={"close": "yes", "login": "somebody-new"})
    assert simulator.issue(REPOSITORY, 177).state == "closed"


@pytest.mark.parametrize(
    ("path", "form", "status", "text"),
    [
        ("/issues/new", {"title": " ", "body": "x", "login": "a"}, 422, "Validation Failed"),
        ("/issues/new", {"title": "t", "body": "x", "login": "<b>"}, 422, "is not a login"),
        ("/issues/new", {"title": "t", "body": "x" * 65_537, "login": "a"}, 422, "Validation Failed"),
        ("/issues/1/comments", {"body": " ", "login": "a"}, 422, "Write something first"),
        ("/issues/1/comments", {"body": "x", "login": "doppel[bot]"}, 400, ""),
        ("/issues/999/comments", {"body": "x", "login": "a"}, 404, ""),
    ],
)
def test_what_github_would_refuse_is_refused_with_the_reason(
    client: FlaskClient, simulator: Simulator, path: str, form: dict[str, str], status: int, text: str
) -> None:
    answer = client.post(path, data=form)
    assert answer.status_code == status and text in answer.text
    assert simulator.repository(REPOSITORY).last_number == 176


def test_other_sites_cannot_act_through_the_visitors_browser(client: FlaskClient) -> None:
    form = {"title": "t", "body": "", "login": "a"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://localhost:8080"}):
        assert client.post("/issues/new", data=form, headers=headers).status_code == 403
    assert client.get("/", headers={"Host": "attacker.invalid"}).status_code == 400
    answer = client.get("/")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "http://" not in answer.text and "https://" not in answer.text.replace("https://example.org/photos/", "")
