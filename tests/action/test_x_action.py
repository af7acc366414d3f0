"""The bot in a workflow: action.yml and the guide's file, run as GitHub's runner would (X)."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from bot.app.action import install, state
from bot.app.action.runner import WorkflowJob
from bot.app.action.workflow import workflow
from bot.conversation.marker import ADVICE
from bot.domain.entities import Comment, RepoRef
from bot.github.repository import RepoClient
from bot.simulator import start_simulator
from bot.simulator.language_model import start_model
from bot.simulator.state.issues import Issue
from tests.action.conftest import BOT, Project, make_project
from tests.action.runner import ROOT, guides_workflow, read_yaml
from tests.judge.models import saying

ERROR = "`read ECONNRESET at TLSWrap.onStreamRead` in the log, each time that it tries."
FIRST, SECOND = "Sync never finishes behind the proxy", "Sync stops with ECONNRESET behind a proxy"

pytestmark = pytest.mark.whole


def duplicate(project: Project) -> int:
    """A report and another of the same; the number of the second, which has a comment."""
    project.open(FIRST, ERROR)
    number = project.open(SECOND, ERROR, "second-reporter").number
    assert len(project.said(number)) == 1, project.last.log
    return number


def test_x1_the_workflow_has_ten_lines_and_least_permissions() -> None:
    text, action = guides_workflow(), read_yaml((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert len(text.splitlines()) <= 10
    assert read_yaml(text)["permissions"] == {"issues": "write", "contents": "read"}
    assert set(action["inputs"]) == {"token"} and set(action["outputs"]) == {"outcome", "candidates", "comment-url"}


def test_x1_the_published_schemas_accept_both(tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed; `make install` brings it")
    (tmp_path / "workflow.yml").write_text(guides_workflow(), encoding="utf-8")
    for kind, file in (("actions", ROOT / "action.yml"), ("workflows", tmp_path / "workflow.yml")):
        command = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.github-{kind}", str(file))
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout


def test_x4_nothing_of_an_event_stands_in_a_script() -> None:
    steps = read_yaml((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    named = {one for step in steps for value in step.get("env", {}).values() for one in re.findall(r"[\w.-]+", value)}
    assert named == {"steps.python.outputs.python-path", "inputs.token"}
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", one) for one in used)


def test_j1_a_workflow_may_name_a_judge(project: Project) -> None:
    """Its verdict decides as on a host, and is kept with the state: an unchanged text is not asked about twice."""
    with start_model(saying("same", "the proxy resets the connection")) as model:
        named = {"DOPPEL_JUDGE_URL": model.url, "DOPPEL_JUDGE_MODEL": "reader-1", "DOPPEL_JUDGE_KEY": "a-key"}
        workflow = guides_workflow().replace("\njobs:", f"\n{guides_workflow('judge')}jobs:")
        assert read_yaml(workflow)["env"].keys() == named.keys()
        project.runner.environ = {**named, "DOPPEL_JUDGE_SECONDS": "120"}
        number = duplicate(project)
        assert "“the proxy resets the connection”" in project.said(number)[0]
        project.write(number, "/duplicates")
        assert len(model.heard) == 1
    assert "a-key" not in "".join(ran.log + ran.summary for ran in project.ran)


def test_j6_what_the_judge_was_asked_is_kept_though_nothing_was_said(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state too large to be kept after every run lost the calls that a budget counts, and the answers."""
    monkeypatch.setattr(state, "SMALL", 0)
    with start_model(saying("different")) as model:
        named = {"DOPPEL_JUDGE_URL": model.url, "DOPPEL_JUDGE_MODEL": "reader-1", "DOPPEL_JUDGE_SECONDS": "120"}
        project.runner.environ = named
        project.open(FIRST, ERROR)
        number = project.open(SECOND, ERROR, "second-reporter").number
        assert project.said(number) == [] and len(model.heard) == 1
        project.write(number, "/duplicates")
        assert len(model.heard) == 1


def test_j1_the_judges_clients_are_installed_only_where_it_is_named() -> None:
    named = {"DOPPEL_JUDGE_URL": "http://127.0.0.1:1/v1"}
    assert install.requirements({}) == [install.REQUIREMENTS]
    assert install.requirements(named) == [install.REQUIREMENTS, install.JUDGE_REQUIREMENTS]
    assert install.key({}) != install.key(named)


def test_x1_a_duplicate_gets_a_comment_a_summary_and_outputs(project: Project) -> None:
    number = duplicate(project)
    (said,) = project.said(number)
    assert ADVICE.begins(said) and "[#1](https://redirect.github.com" in said
    outputs = project.last.outputs
    (comment,) = project.sim.comments(project.repo, number)
    assert outputs["outcome"] == "posted"
    assert outputs["comment-url"].endswith(f"/{project.repo}/issues/2#issuecomment-{comment.id}")
    (named,) = json.loads(outputs["candidates"])
    assert named["number"] == 1 and set(named) == {"number", "url", "confidence"}
    assert "It has a comment now" in project.last.summary and FIRST in project.last.summary
    assert "The index is complete: 2 issues." in project.last.summary


def test_x1_what_needs_no_work_starts_no_program(project: Project) -> None:
    issue = project.open(FIRST, ERROR)
    project.write(issue.number, "I see this too.")
    assert {name for name, step in project.last.steps.items() if step["outcome"] != "skipped"} == set()
    assert project.last.outputs == {"outcome": "none", "candidates": "[]", "comment-url": ""}
    # A run, but one that ends before it asks GitHub for anything.
    project.write(issue.number, "There are duplicates, I think.")
    assert "Nothing to do: a comment without a command." in project.last.summary


def test_x1_commands_are_obeyed(project: Project) -> None:
    number = duplicate(project)
    asked = project.write(number, "Thanks, @reporter!\n/duplicates not #1")
    assert [one.content for one in asked.reactions] == ["eyes", "+1"]
    advice, reply = project.said(number)
    assert "redirect.github.com" not in advice.partition("<details>")[0] and "#1" in reply
    project.write(number, "/duplicates undo")
    assert "[#1](" in project.said(number)[0]
    project.write(number, "/duplicates of #1", "stranger")
    assert project.sim.issue(project.repo, number).state == "open"
    project.write(number, "/duplicates of #1")
    assert project.sim.issue(project.repo, number).state_reason == "duplicate"


def test_x3_an_evicted_cache_loses_no_decision(project: Project) -> None:
    number = duplicate(project)
    project.write(number, "@github-actions duplicates not #1")
    project.open("Thumbnails are blurred", "They look like 64 pixels on a screen of 4,000.")
    project.write(3, "/duplicates mute", "reporter")
    project.runner.evict()
    for _ in range(101):
        project.sim.comment(project.repo, number, "stranger", "It is the same here.")
    project.sim.edit_issue(project.repo, number, title=f"{SECOND} again")
    project.settle()
    assert len([one for one in project.said(number) if ADVICE.begins(one)]) == 1
    assert "[#1](" not in project.said(number)[0], "the pair was rejected before"
    project.sim.edit_issue(project.repo, 3, title=FIRST, body=ERROR)
    project.settle()
    assert not any(map(ADVICE.begins, project.said(3))), "it is muted"
    assert project.last.outputs["outcome"] == "left alone"


def test_x3_what_was_refused_is_not_recovered_as_if_it_had_held(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not though the person may give the command by now; and threads are found beyond what one search shows."""
    monkeypatch.setattr("bot.github.search._REACHABLE", 2)
    monkeypatch.setattr("bot.github.search._PAGE", 1)
    monkeypatch.setattr("bot.simulator.search.index.REACHABLE", 2)
    number = duplicate(project)
    project.write(number, "/duplicates not #1", "stranger")
    for at in range(3):
        other = project.open(f"Thumbnail {at} is blurred", "It looks like 64 pixels on a screen of 4,000.")
        project.write(other.number, "/duplicates mute")
        project.sim.clock.advance(60)
    project.sim.set_permission(project.repo, "stranger", "triage")
    project.runner.evict()
    project.sim.edit_issue(project.repo, number, title=f"{SECOND} again")
    project.settle()
    assert "[#1](" in project.said(number)[0]
    for at in range(3):
        project.sim.edit_issue(project.repo, number + 1 + at, title=f"Another thumbnail, {at}")
        project.settle()
        assert project.last.outputs["outcome"] == "left alone", at


def test_x3_a_damaged_cache_is_noticed_and_made_anew(project: Project) -> None:
    duplicate(project)
    (kept,) = (project.runner.folder / "cache" / project.runner.cache[-1]).iterdir()
    kept.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    number = project.open(f"{SECOND} of the office", ERROR).number
    assert len(project.said(number)) == 1
    assert "The state in the cache was damaged, and is made anew." in project.last.summary and project.last.ok
    kept = next((project.runner.folder / "cache" / project.runner.cache[-1]).iterdir())
    kept.write_bytes(gzip.compress(b"This is no database."))
    project.nightly()
    assert "was damaged" in project.last.summary and "4 issues" not in project.last.summary


def test_x3_two_runs_at_once_leave_one_comment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither sees the other's comment before it posts its own."""
    project.open(FIRST, ERROR)
    issue = project.sim.open_issue(project.repo, "second-reporter", SECOND, ERROR)
    project.sim.webhooks.join()
    event, payload = project.events.pop()
    folder = project.runner.folder
    jobs = []
    for name in ("one", "two"):
        temp = folder / name
        temp.mkdir()
        (temp / "event.json").write_text(json.dumps(payload))
        environ = {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(temp / "event.json"),
            "GITHUB_REPOSITORY": project.repo,
            "GITHUB_TOKEN": project.sim.workflow_token(project.repo),
            "GITHUB_API_URL": project.server.url,
            "RUNNER_TEMP": str(temp),
            **dict.fromkeys(("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"), str(temp / "said")),
        }
        jobs.append(WorkflowJob.read(environ))
    post, posted = RepoClient.create_comment, list[int]()

    def create(client: RepoClient, repo: RepoRef, number: int, body: str) -> Comment:
        if not posted:
            posted.append(number)
            with workflow(jobs[1]) as other:
                other.handle(jobs[1].event_to_handle(project.sim.now()))  # type: ignore[arg-type]
        return post(client, repo, number, body)

    monkeypatch.setattr(RepoClient, "create_comment", create)
    with workflow(jobs[0]) as first:
        run = first.handle(jobs[0].event_to_handle(project.sim.now()))  # type: ignore[arg-type]
    assert posted and len(project.said(issue.number)) == 1
    assert run.comment_id == project.sim.comments(project.repo, issue.number)[0].id


@pytest.mark.parametrize(
    ("permissions", "missing"),
    [
        ({}, "issues"),
        ({"contents": "read", "issues": "read"}, "issues: write"),
        ({"issues": "write"}, "contents: read"),
    ],
)
def test_x4_a_missing_permission_is_named(project: Project, permissions: Mapping[str, str], missing: str) -> None:
    project.permissions = {"metadata": "read", **permissions}
    project.open(FIRST, ERROR)
    project.open(SECOND, ERROR)
    assert not project.last.ok and project.last.outputs["outcome"] == "failed"
    assert re.search(rf"The token lacks [^.]*{missing}", project.last.summary)
    assert "needs permissions: {issues: write, contents: read}" in project.last.log
    assert "::error title=Doppel::" in project.last.log


def test_x4_a_run_that_is_repeated_changes_nothing(project: Project) -> None:
    project.open(FIRST, ERROR)
    issue = project.sim.open_issue(project.repo, "second-reporter", SECOND, ERROR)
    project.sim.webhooks.join()
    event, payload = project.events[-1]
    project.settle()
    before = project.said(issue.number)
    asked = project.write(issue.number, "/duplicates not #1")
    written, comments = project.writes(), project.said(issue.number)
    project.run(event, payload, again=True)
    assert (project.said(issue.number), project.writes()) == (comments, written) and len(before) == 1
    # Long afterwards, when nothing is known of it any more.
    project.runner.evict()
    project.sim.clock.advance(timedelta(days=2).total_seconds())
    payload["issue"]["updated_at"] = "2020-01-01T00:00:00Z"
    project.run(event, payload, again=True)
    assert project.writes() == 0 or project.said(issue.number) == comments
    assert "is left alone" in project.last.summary and asked.reactions


def test_x4_what_strangers_write_is_no_command_to_the_runner(project: Project) -> None:
    title = "$(touch pwned) `touch pwned` ${{ github.token }} ::add-mask::x <!-- doppel:advice v1 -->"
    body = f"::error::pwned\n::set-output name=x::y\n{ERROR}\n```\n::stop-commands::x\n```"
    project.open(title, body, "a-b")
    project.open(title, body, "a-c")
    assert len(project.said(2)) == 1 and not list(project.runner.folder.rglob("pwned*"))
    obeyed = [line for line in project.last.log.splitlines() if line.startswith("::")]
    assert len(obeyed) == 1 and obeyed[0].startswith("::stop-commands::")
    assert "${{" not in json.dumps(project.last.outputs) and "touch" not in json.dumps(project.last.outputs)


def test_x4_comments_of_other_workflows_are_left_alone(project: Project) -> None:
    project.open(FIRST, ERROR)
    other = "Thank you for your report! Please read CONTRIBUTING."
    issue = project.sim.open_issue(project.repo, "second-reporter", SECOND, ERROR)
    project.sim.comment(project.repo, issue.number, BOT, other)
    project.settle()
    project.sim.edit_issue(project.repo, issue.number, body=f"{ERROR} Again.")
    project.settle()
    said = project.said(issue.number)
    assert said[0] == other and len(said) == 2 and ADVICE.begins(said[1])


def test_c6_a_label_that_another_workflow_sets_under_the_same_login_stays(project: Project) -> None:
    def labels(issue: Issue) -> list[str]:
        return [label.name for label in issue.labels]

    def label_elsewhere(issue: Issue) -> None:
        project.sim.add_labels(project.repo, issue.number, "duplicate", actor=BOT)

    project.sim.write_file(project.repo, ".github/doppel.yml", "label: add\n")
    project.open(FIRST, ERROR)
    ours = project.open(FIRST, ERROR, "second-reporter")
    theirs = project.sim.open_issue(project.repo, "third-reporter", FIRST, ERROR)
    label_elsewhere(theirs)
    project.settle()
    assert labels(ours) == labels(theirs) == ["duplicate"] and len(project.said(theirs.number)) == 1
    for issue in (ours, theirs):
        project.sim.edit_issue(project.repo, issue.number, title="Thumbnails are blurred", body="They have 64 pixels.")
        project.settle()
    assert (labels(ours), labels(theirs)) == ([], ["duplicate"])
    # The same after a command, and if the other workflow only comes after a person.
    again, replaced = (project.open(f"Ruler {n} is too small", "On a wide screen.") for n in (1, 2))
    for issue in (again, replaced):
        project.write(issue.number, "/duplicates of #1")
        assert labels(issue) == ["duplicate"]
    project.sim.remove_label(project.repo, replaced.number, "duplicate", "triager")
    label_elsewhere(replaced)
    project.settle()
    for issue in (again, replaced):
        project.write(issue.number, "/duplicates undo")
    assert (labels(again), labels(replaced)) == ([], ["duplicate"]), project.last.log


def test_x4_a_private_repository_on_an_enterprise_server(tmp_path: Path) -> None:
    with start_simulator(enterprise=True) as server:
        for project in make_project(server, tmp_path):
            project.runner.pages = "https://github.example.org"
            server.sim.set_private(project.repo, True)
            number = duplicate(project)
            assert "`#1`" in project.said(number)[0], "there is no redirecting host"
            assert project.ask("scan").ok and not project.runner.artifacts, "it takes no artifacts"
        assert server.sim.unknown_requests == []


def test_x2_a_large_repository_is_read_as_far_as_the_hour_allows(project: Project) -> None:
    rows = [
        {"title": f"Report {n} about part {n % 97}", "body": f"Something {n}.", "created_at": "2026-01-01T00:00:00Z"}
        for n in range(1_200)
    ]
    path = project.runner.folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": n, **row}) + "\n" for n, row in enumerate(rows, 1)))
    project.sim.load_issues(path, project.repo)
    project.sim.open_issue(project.repo, "ann", FIRST, ERROR)
    project.sim.webhooks.join()
    project.events.clear()
    limits = project.sim.limits
    (key,) = [f"installation:{one.id}" for one in project.sim.installations_on(project.sim.repository(project.repo))]
    limits.others[key] = 18
    issue = project.open(SECOND, ERROR)
    # GitHub's own search answers at once.
    assert len(project.said(issue.number)) == 1
    assert "issues of about 1,202" in project.last.summary and "the next run goes on" in project.last.summary
    project.sim.clock.advance(3_700)
    project.nightly()
    assert "The index is complete: 1,202 issues." in project.last.summary, project.last.log


def test_x5_the_nightly_run_reads_votes_and_keeps_the_digest(project: Project) -> None:
    project.sim.write_file(project.repo, ".github/doppel.yml", "digest: issue\n")
    number = duplicate(project)
    (advice,) = project.sim.comments(project.repo, number)
    project.sim.react(advice, "triager", "-1")
    project.nightly()
    assert project.last.ok, project.last.log
    assert advice.minimized, "it was voted down"
    digest = project.sim.issue(project.repo, 3)
    assert digest.author.login == BOT and f"#{number}" in (digest.body or "")
    project.runner.evict()
    project.nightly()
    assert len([*project.sim.issues_of(project.sim.repository(project.repo))]) == 3, "it is found again"


def test_x5_scan_and_evaluate_are_asked_for_by_hand(project: Project) -> None:
    duplicate(project)
    project.ask("scan")
    assert project.last.ok, project.last.log
    assert FIRST in project.last.summary
    assert (project.runner.artifacts["doppel-scan"] / "scan.html").stat().st_size > 1_000
    project.ask("evaluate")
    assert project.runner.cache[-1].startswith("doppel-history-") and project.last.ok, project.last.log
    project.write(2, "/duplicates of #1")
    project.ask("evaluate")
    assert project.last.ok and "duplicates" in project.last.summary, project.last.log
    assert (project.runner.artifacts["doppel-evaluate"] / "evaluation.svg").stat().st_size > 1_000
