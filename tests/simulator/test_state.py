"""Whatever is done in whatever order, the state agrees with itself and every webhook is valid."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bot.simulator import Simulator
from bot.simulator.errors import ApiError
from bot.simulator.state.issues import Issue

REPOSITORIES = ("acme/app", "acme/other")
TEXT = st.text(alphabet="ab #1@/`~\n", min_size=1, max_size=20)


class Life(RuleBasedStateMachine):
    """Two repositories and what people do in them."""

    def __init__(self) -> None:
        super().__init__()
        self.sim = Simulator(webhook_url="http://in.process/", post=lambda url, body, headers: (202, {}, ""))
        for name in REPOSITORIES:
            self.sim.add_repository(name)
        self.sim.install("acme")

    def teardown(self) -> None:
        self.sim.webhooks.stop()

    def issues(self) -> list[Issue]:
        return list(self.sim.issues_by_id.values())

    def pick(self, number: int) -> Issue | None:
        issues = self.issues()
        return issues[number % len(issues)] if issues else None

    @rule(repository=st.sampled_from(REPOSITORIES), title=TEXT.filter(str.strip), body=TEXT, pull=st.booleans())
    def open(self, repository: str, title: str, body: str, pull: bool) -> None:
        self.sim.open_issue(repository, "ada", title, body, ["bug"], is_pull_request=pull)

    @rule(number=st.integers(0), action=st.sampled_from(["close", "reopen", "lock", "unlock", "delete", "transfer"]))
    def change(self, number: int, action: str) -> None:
        issue = self.pick(number)
        if issue is None:
            return
        if action == "transfer":
            target = REPOSITORIES[issue.repository.full_name == REPOSITORIES[0]]
            self.sim.transfer_issue(issue.repository, issue.number, target)
        else:
            getattr(self.sim, f"{action}_issue")(issue.repository, issue.number)

    @rule(number=st.integers(0), text=TEXT.filter(str.strip))
    def talk(self, number: int, text: str) -> None:
        issue = self.pick(number)
        if issue is None:
            return
        try:
            said = self.sim.comment(issue.repository, issue.number, "bea", text)
        except ApiError as refused:
            assert (refused.status, issue.locked) == (403, True)
            return
        self.sim.react(said, "ada", "+1")
        self.sim.edit_comment(said, text + "!")

    @rule(number=st.integers(0))
    def hush(self, number: int) -> None:
        comments = list(self.sim.comments_by_id.values())
        if comments:
            self.sim.delete_comment(comments[number % len(comments)])

    @rule(number=st.integers(0), names=st.lists(st.sampled_from(["bug", "new", "Bug"]), max_size=3))
    def label(self, number: int, names: list[str]) -> None:
        issue = self.pick(number)
        if issue is not None:
            self.sim.set_labels(issue, names)

    @invariant()
    def counts_agree(self) -> None:
        for name in REPOSITORIES:
            repository = self.sim.repository(name)
            assert repository.open_issues == sum(i.state == "open" for i in self.sim.issues_of(repository))

    @invariant()
    def lookups_agree(self) -> None:
        listed = [issue for name in REPOSITORIES for issue in self.sim.issues_of(self.sim.repository(name))]
        assert {issue.id for issue in listed} == set(self.sim.issues_by_id)
        said = {comment.id: comment for issue in listed for comment in issue.comments}
        assert said == self.sim.comments_by_id
        assert all(comment.issue is self.sim.issues_by_id[comment.issue.id] for comment in said.values())
        assert all(self.sim.nodes[issue.node_id] is issue for issue in listed)

    @invariant()
    def the_index_follows(self) -> None:
        self.sim.flush_index()
        assert len(self.sim.index) == len(self.sim.issues_by_id)


TestLife = pytest.mark.slow(Life.TestCase)
TestLife.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)


def test_ids_are_never_numbers(sim: Simulator) -> None:
    issue = sim.open_issue("acme/app", "ada", "One")
    said = sim.comment("acme/app", 1, "ada", "Hello")
    ids = {issue.id, said.id, issue.repository.id, issue.author.id, sim.app.id}
    assert len(ids) == 5
    assert min(ids) > 1_000_000
