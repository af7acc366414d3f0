"""`doppel doctor`: every kind of finding, with the way to mend it, and nothing is changed by looking."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.app.wiring.clients import prepare_databases
from bot.deliveries.database import QUEUE, WORKERS, jobs, queue_engine
from bot.deliveries.events import IssueEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import Queue
from bot.domain.entities import Actor, RepoRef, Repository
from bot.platform.settings import load
from bot.simulator import Server
from bot.simulator.language_model import Heard, start_model
from bot.storage import open_store
from bot.storage.engine import write
from bot.storage.repositories import OFF, Progress
from tests.cli.doctor.conftest import Found
from tests.judge.models import saying

pytestmark = pytest.mark.slow


def test_a_fresh_set_up_is_well_and_looking_makes_no_database(examine: Callable[..., Found], tmp_path: Path) -> None:
    found = examine()
    assert {one: health for one, (health, _, _) in found.items() if health != "ok"} == {"webhook": "warning"}
    assert found["webhook"][1:] == ("GitHub delivers nowhere", "`doppel serve` sets the webhook.")
    assert found["database"][1].endswith("doppel.db is not there yet; the first start makes it")
    assert found["queue"][1].endswith("doppel-queue.db is not there yet; the first start makes it")
    assert not (tmp_path / "home").exists()


def test_every_wrong_setting_is_told_and_names_that_are_nearly_ours(
    examine: Callable[..., Found], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("WEBHOOK_SECERT=x\n")
    found = examine(PORT="http", APP_ID="mine", PRIVATE_KEY="nonsense")
    assert found.keys() == {"WEBHOOK_SECERT", "PORT", "APP_ID", "PRIVATE_KEY"}
    assert found["WEBHOOK_SECERT"] == (
        "warning",
        "nothing reads a setting of this name",
        "Did you mean WEBHOOK_SECRET?",
    )
    assert found["PORT"][:2] == ("broken", "this is not a whole number from 1 to 65535.")


def test_what_is_missing_is_told(examine: Callable[..., Found]) -> None:
    for name in ("APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET"):
        found = examine(**{name: ""})
        health, says, mend = found["GitHub App"]
        assert (health, found["database"][0]) == ("broken", "ok")
        assert says.startswith(name) and says.endswith(": not set") and "The App's page has the id" in mend
    nothing = examine(APP_ID="", PRIVATE_KEY="", WEBHOOK_SECRET="")
    assert nothing["GitHub App"][0] == "broken" and "doppel serve" in nothing["GitHub App"][2]
    assert examine(WEBHOOK_SECRET="short")["WEBHOOK_SECRET"][0] == "warning"


def test_an_app_of_the_browser_that_is_not_read_is_told(examine: Callable[..., Found], tmp_path: Path) -> None:
    """A secret alone in `.env` is enough: nothing of the file is taken, and all else of the App seems not to be set."""
    assert "app.env" not in examine()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "app.env").write_text("APP_ID=1\n")
    found = examine(APP_ID="", PRIVATE_KEY="")
    assert found["GitHub App"][0] == "broken"
    health, says, mend = found["app.env"]
    assert health == "warning"
    assert says.endswith(
        "app.env is not read: the environment or .env has WEBHOOK_SECRET, and then must have all the App's credentials"
    )
    assert "remove those variables" in mend


def test_without_an_app_it_is_told_whether_github_takes_the_token(
    examine: Callable[..., Found], github: Server
) -> None:
    """With it find, scan and evaluate read then."""

    def told(token: str, repository: str = "") -> tuple[str, str]:
        nobody = dict.fromkeys(("APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET"), "")
        return examine(**nobody, GITHUB_TOKEN=token, DOPPEL_REPOSITORY=repository)["GITHUB_TOKEN"][:2]

    github.sim.add_repository("acme/hidden", private=True)
    known = github.sim.user_token("rita")
    assert told(known) == ("ok", "GitHub knows it; without DOPPEL_REPOSITORY, no repository was tried")
    assert told(known, "acme/app") == ("ok", "may read the issues of acme/app")
    health, says = told(known, "acme/hidden")
    assert health == "broken" and "acme/hidden" in says and "it is not there, or cannot be read" in says
    health, says = told("wrong")
    assert health == "broken" and says.endswith("GITHUB_TOKEN is wrong or has expired")
    assert "GITHUB_TOKEN" not in examine(GITHUB_TOKEN="wrong"), "which nobody asks with where there is an App"


def test_whether_there_is_a_dashboard_is_told(examine: Callable[..., Found]) -> None:
    health, says, _ = examine()["dashboard"]
    assert (health, says.partition(";")[0]) == ("ok", "off")
    half = ("warning", "off, since only one of GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET is set")
    assert examine(GITHUB_CLIENT_ID="Iv23")["dashboard"][:2] == half
    assert examine(GITHUB_CLIENT_ID="Iv23", GITHUB_CLIENT_SECRET="x")["dashboard"][:2] == ("ok", "on, at /dashboard")


def test_what_github_says_is_compared(examine: Callable[..., Found], github: Server) -> None:
    health, says, mend = examine(APP_ID="999999")["GitHub"]
    assert (health, says) == (
        "broken",
        "refuses the App's id and key: read the App: GitHub knows no App of this id: Integration not found",
    )
    assert mend.startswith("Id and key must belong to one App")
    assert examine(GITHUB_API_URL="http://127.0.0.1:9")["GitHub"][0] == "broken"
    github.sim.app.hook.url = "https://smee.io/other-channel"
    assert examine()["webhook"][:2] == ("ok", "GitHub delivers to https://smee.io/other-channel")
    differs = examine(WEBHOOK_PROXY_URL="https://smee.io/hush")
    assert differs["webhook"][0] == "warning" and "hush" not in str(differs)
    github.sim.set_permissions("acme", {"metadata": "read"})
    found = examine()
    assert found["installation on acme"][0] == "broken" and "issues: write" in found["installation on acme"][1]
    github.sim.suspend("acme")
    assert examine()["installation on acme"][:2] == ("warning", "suspended")
    github.sim.uninstall("acme")
    assert examine()["installations"][:2] == ("warning", "none yet")


def test_what_the_app_lacks_is_told(examine: Callable[..., Found], github: Server) -> None:
    found = examine()
    assert found["permissions"] == ("ok", "all that are needed", "")
    assert found["events"] == ("ok", "all that are needed", "")
    github.sim.app.permissions["issues"] = "read"
    del github.sim.app.permissions["contents"]
    github.sim.app.events = [name for name in github.sim.app.events if name not in ("push", "issues")]
    found = examine()
    assert found["permissions"][:2] == ("broken", "the App lacks contents: read, issues: write")
    assert found["events"][:2] == ("broken", "the App lacks issues, push")
    assert found["permissions"][2] == found["events"][2]
    assert found["events"][2].startswith("Change it on the App's page, under Permissions & events;")


@pytest.mark.parametrize(
    ("ahead", "says"), [(3645, r"36\d\d s behind GitHub's"), (-3600, r"3[56]\d\d s ahead of GitHub's")]
)
def test_a_clock_that_is_wrong_is_told(examine: Callable[..., Found], github: Server, ahead: float, says: str) -> None:
    assert "clock" not in examine()
    github.sim.clock.advance(ahead)
    health, told, mend = examine()["clock"]
    assert (health, mend) == ("warning", "Let the machine keep its time (NTP).")
    assert re.fullmatch(says, told)


def test_a_model_that_does_not_answer_is_told_and_does_not_keep_the_bot_from_working(
    examine: Callable[..., Found],
) -> None:
    assert examine()["model"] == ("ok", "wordllama-l2-supercat-256 answers with 256 dimensions", "")
    assert examine(DOPPEL_EMBEDDING_MODEL="none")["model"][0] == "ok"
    away = examine(DOPPEL_EMBEDDING_MODEL="small", DOPPEL_EMBEDDING_URL="http://127.0.0.1:9/v1")["model"]
    assert away[:2] == ("warning", "http://127.0.0.1:9/v1/embeddings: ConnectionError")


def test_what_keeps_indexes_from_being_whole_is_told(examine: Callable[..., Found], tmp_path: Path) -> None:
    settings = load({"DOPPEL_HOME": str(tmp_path / "home")}, tmp_path / "no.env")
    with closing(open_store(settings)) as store:
        for repo_id, problem in enumerate(("", OFF, "duplicates: GitHub does not tell", "vectors: none")):
            summary = Repository(repo_id, RepoRef("acme", f"app{repo_id}"), private=False)
            store.repositories.upsert(summary, 1, 0)
            store.backfills.set(repo_id, Progress(done=True, problem=problem))
    health, says, mend = examine()["indexes"]
    expected = "2 incomplete, such as acme/app2: duplicates: GitHub does not tell"
    assert (health, says) == ("warning", expected)
    assert "doppel index" in mend


def test_deliveries_that_failed_are_told_with_the_reason_until_they_are_taken(
    examine: Callable[..., Found], github: Server
) -> None:
    sim = github.sim
    sim.app.hook.url = "https://doppel.example/webhook"

    def deliver(code: int) -> tuple[str, str, str]:
        sim.webhooks.post = lambda url, body, headers: (code, {}, "")
        if sim.webhooks.log:
            sim.webhooks.redeliver(sim.webhooks.log[-1])
        else:
            sim.open_issue("acme/app", "ann", "It crashes", "at once")
        sim.webhooks.join()
        return examine()["webhook"]

    health, says, mend = deliver(401)
    assert (health, says) == ("warning", "1 delivery to https://doppel.example/webhook failed lately, mostly with 401")
    assert mend.startswith("WEBHOOK_SECRET here must be the secret on the App's page on GitHub.")
    assert "the log has the reasons" in deliver(502)[2]
    assert deliver(202) == ("ok", "GitHub delivers to https://doppel.example/webhook", "")


def test_whether_somebody_does_what_is_taken_and_what_was_given_up_are_told(
    examine: Callable[..., Found], tmp_path: Path
) -> None:
    settings = load({"DOPPEL_HOME": str(tmp_path / "home")}, tmp_path / "no.env")
    prepare_databases(settings)
    inbox, queue = Inbox(settings), queue_engine(settings)
    repository = Repository(2, RepoRef("acme", "app"), private=False)
    opened = IssueEvent("opened", 1, repository, 7, Actor("ann"), Actor("ann"))
    with closing(inbox):
        inbox.put("d-1", opened)
        found = examine()
        assert found["worker"][:2] == ("warning", "none is running; deliveries to work on: 1")
        assert "given up" not in found
        Queue(queue).register("one")
        assert examine()["worker"] == ("ok", "1 running; deliveries to work on: 1", "")
        mine = sa.update(jobs).where(jobs.c.queue == QUEUE)
        with write(queue) as connection:
            connection.execute(mine.values(arrived_at=0.0))
        health, says, mend = examine()["worker"]
        assert (health, says.partition(":")[0]) == ("warning", "behind")
        assert "log" in mend
        assert "failed" not in found
        later = {"attempts": 1, "arrived_at": time.time() - 7_200, "run_after": time.time() + 3_600}
        with write(queue) as connection:
            connection.execute(mine.values(later))
        found = examine()
        assert found["worker"] == ("ok", "1 running; deliveries to work on: 1", "")
        assert found["failed"][:2] == ("warning", "1 delivery to try again; the oldest came 120 minutes ago")
        assert found["failed"][2].startswith("The log says why")
        with write(queue) as connection:
            connection.execute(
                sa.update(jobs).where(jobs.c.queue == WORKERS).values(lease_until=jobs.c.lease_until - 100)
            )
        says, mend = examine()["worker"][1:]
        assert says.startswith("none has been heard of for 10")
        assert "a full disk" in mend
        Queue(queue).renew(["one"])
        with write(queue) as connection:
            connection.execute(mine.values(state="dead", done_at=time.time()))
        found = examine()
        assert found["worker"][1] == "1 running; deliveries to work on: 0"
        assert found["given up"][:2] == ("warning", "1 delivery")
        assert "doppel jobs retry --all" in found["given up"][2]
    queue.dispose()


@pytest.mark.parametrize("path", ["GET /app/hook/config", "GET /app/installations"])
def test_a_github_that_fails_on_the_way_is_a_finding_among_the_others(
    github: Server, examine: Callable[..., Found], path: str
) -> None:
    github.sim.faults.add(path, status=502, times=None)
    found = examine()
    assert found["permissions"][0] == "ok"
    health, says, mend = found["GitHub"]
    assert (health, says) == ("broken", f"{github.url} could not be asked: {path}: GitHub answered 502")
    assert mend.startswith("Try again later")


def test_j1_the_judge_is_asked_and_what_it_costs_is_told(examine: Callable[..., Found]) -> None:
    pytest.importorskip("openai")
    assert "judge" not in examine()

    def reader(heard: Heard) -> str:
        return saying(lambda text: "same" if "PDF" in text else "different")(heard)

    def slow_reader(heard: Heard) -> str:
        time.sleep(1.01)
        return reader(heard)

    with start_model(reader) as model:
        named = {"DOPPEL_JUDGE_URL": model.url, "DOPPEL_JUDGE_MODEL": "reader-1", "DOPPEL_JUDGE_PRICE_IN": "1"}
        named["DOPPEL_JUDGE_SECONDS"] = "120"
        health, says, _ = examine(**named)["judge"]
        assert health == "ok" and "reader-1 answers in the form asked for, in " in says
        assert "; a hundred issues cost about 0.04; " in says
        model.script = slow_reader
        health, says, _ = examine(**named | {"DOPPEL_JUDGE_SECONDS": "1"})["judge"]
        assert health == "warning" and says.endswith(" s, and an issue waits 1 s")
        model.script = lambda heard: "They are the same."
        assert examine(**named)["judge"][:2] == ("warning", "reader-1 answers, but it is not JSON")
        model.script = saying("different")
        assert examine(**named)["judge"][0] == "warning"
    assert examine(**named)["judge"][0] == "warning", "it is gone"
