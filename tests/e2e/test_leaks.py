"""No secret and no text of anybody's in what the bot writes for its hosts: log lines, dead letters, metrics, traces.

The whole bot runs over issues, comments and settings with planted words while GitHub fails and our own code does; then
every line is searched, as the worker would write it at its most talkative, in both forms.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from bot.platform.logs import TextFormatter, configure_logging
from bot.search.sources.github import GitHubHybrid
from bot.web import create_app
from handlers import issues
from tests.e2e.harness import Doppel
from tests.e2e.world import SECRET
from tests.spans import recorded

# Each stands in another place; none is a word of this program.
TITLE, BODY, COMMENT, SETTING, FAULT = "zuckerwatte", "pampelmuse", "rhabarber", "quittengelee", "stachelbeere"
LABEL, QUERY, MENTION, PASSWORD = "heidelbeere", "brombeere", "sanddorn", "ghp_holunder"
PLANTED = (TITLE, BODY, COMMENT, SETTING, FAULT, LABEL, QUERY, MENTION, PASSWORD)


class Heard:
    """Everything that was written for the host."""

    def __init__(self, doppel: Doppel) -> None:
        self.web = create_app(doppel.world.settings).test_client()
        self.json, self.text = io.StringIO(), io.StringIO()
        handler = logging.StreamHandler(self.text)
        handler.setFormatter(TextFormatter())
        configure_logging("DEBUG", "json")
        (ours,) = logging.getLogger().handlers
        assert isinstance(ours, logging.StreamHandler)
        ours.setStream(self.json)
        logging.getLogger().addHandler(handler)
        self.handlers = list(logging.getLogger().handlers)
        # GitHub itself may know what it is asked for.
        logging.getLogger("bot.simulator").setLevel(logging.CRITICAL)
        self.spans = recorded()

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.json.getvalue().splitlines()]

    def pages(self) -> list[str]:
        return [self.web.get(path).text for path in ("/metrics", "/readyz", "/healthz", "/")]


@pytest.fixture
def heard(doppel: Doppel) -> Iterator[Heard]:
    heard = Heard(doppel)
    yield heard
    for handler in heard.handlers:
        logging.getLogger().removeHandler(handler)


def break_source(patch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError(f"{FAULT} {PASSWORD}")

    patch.setattr(GitHubHybrid, "ask", fail)


def live(doppel: Doppel) -> None:
    """What may happen to a bot on a day."""
    crash = f"Crash while exporting {TITLE} @{MENTION} <!-- doppel:advice v1 0 --> \r\n\x1b[2J"
    body = f"`{BODY}Error: password={PASSWORD}`\n## {BODY}\nTraceback {BODY}.py line 7"
    doppel.open(crash, body, author="ann")
    doppel.open(f"{TITLE} crash while exporting", body, labels=[LABEL])
    doppel.write(2, f"/duplicates\n/duplicates search {QUERY} {PASSWORD}\n{COMMENT}")
    doppel.write(2, f"/duplicates explane #1 {COMMENT}\n/duplicates not {COMMENT}\n/duplicates of #1")
    doppel.configure(f"mode: {SETTING}\nmin_confidence: {PASSWORD}\n{SETTING}: 1\n")
    doppel.write(2, "/duplicates fresh")
    doppel.configure(f"mode: shadow\nignore: {{titles: ['{SETTING}*'], labels: ['{LABEL}']}}\n")
    doppel.open(f"{TITLE} once more", body)
    doppel.configure("mode: comment\n")
    for fault in (500, "malformed", "timeout"):
        doppel.sim.faults.add("GET /search/issues", fault)
        doppel.sim.faults.add("GET /repos/*/issues/*", fault)
    doppel.sim.faults.add("GET /search/issues", 422)
    with doppel.before_backfill(), doppel.impatient():
        doppel.open(f"{TITLE} while GitHub fails", body)
    doppel.sim.faults.clear()


def crash_three_times(doppel: Doppel, patch: pytest.MonkeyPatch) -> str:
    """A fault of ours that quotes the issue: it ends as a dead letter, and is then mended."""

    def fail(*arguments: object) -> None:
        try:
            raise ValueError(f"{FAULT} {PASSWORD}")
        except ValueError as cause:
            raise RuntimeError(f"cannot look at {arguments!r}") from cause

    with patch.context() as broken:
        broken.setattr(issues, "advise", fail)
        doppel.open(f"{TITLE} breaks the bot", BODY)
    (letter,) = doppel.world.dead_letters.list()
    assert doppel.world.dead_letters.retry(letter.delivery_id)
    doppel.settle()
    return repr(letter)


def test_nothing_private_and_no_secret_is_written_for_the_host(
    doppel: Doppel, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        break_source(broken)
        live(doppel)
    letter = crash_three_times(doppel, monkeypatch)
    for delivery in ({"X-GitHub-Delivery": PASSWORD}, {"Authorization": f"Bearer {PASSWORD}"}):
        heard.web.post("/webhook", data=json.dumps({"title": TITLE}), headers=delivery)
    lines = heard.lines()
    assert len(lines) > 40
    written = [*map(json.dumps, lines), heard.text.getvalue(), letter, *heard.pages()]
    written += [span.to_json() for span in heard.spans.get_finished_spans()]
    whole = "\n".join(written)
    server = doppel.world.server
    key = [line for line in server.private_key_pem.splitlines() if len(line) > 20]
    secrets = [*key, *server.sim.installation_tokens, SECRET, "eyJ", "Bearer "]
    assert len(secrets) > 15
    for word in (*PLANTED, *secrets):
        found = [one[:400] for one in written if word in one]
        assert not found, (word, found[:3])
    # It was talkative: all the places were reached.
    for said in (
        "source github-hybrid failed",
        "given up after 3 attempts",
        "again in",
        "shadow:",
        "refused a delivery",
    ):
        assert said in whole, said
    assert {"delivery", "issues.opened", "find", "source", "github"} <= {
        one.name for one in heard.spans.get_finished_spans()
    }
    for number in range(1, 6):
        doppel.said(number)


def test_each_line_of_work_says_its_delivery_and_job(doppel: Doppel, heard: Heard) -> None:
    doppel.sim.faults.add("GET /search/issues", 500)
    with doppel.before_backfill():
        doppel.open("Crash while exporting to PDF")
    deliveries = {entry.guid for entry in doppel.sim.webhooks.log}
    work = [
        line
        for line in heard.lines()
        if line["logger"] in ("handlers.router", "bot.github.transport", "handlers.advisory_comment")
    ]
    assert len(work) >= 3, heard.text.getvalue()
    for line in work:
        assert line["delivery"] in deliveries, line
        assert line["job"] == "issues.opened"
        assert line["attempt"] == 1
    doppel.said(1)
