"""Starting and closing discussions. They send no events here, since nothing asks for any."""

from __future__ import annotations

from bot.simulator.operations.base import Operations, locked
from bot.simulator.state.accounts import Account
from bot.simulator.state.discussions import Discussion, DiscussionReason
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Repository


class DiscussionOperations(Operations):
    """Discussions."""

    @locked
    def start_discussion(
        self, repository: str | Repository, author: str | Account, title: str, body: str = "", *, answered: bool = False
    ) -> Discussion:
        """Start a discussion under the next number of the repository."""
        repo = self.repo(repository)
        repo.last_number += 1
        key, now = self.ids.next("discussion"), self.now()
        node = node_id("D", repo.id, key)
        made = Discussion(key, node, repo, repo.last_number, self.who(author), title, body, now, now)
        made.answered = answered
        self.discussions[key] = made
        self.nodes[node] = made
        return made

    @locked
    def close_discussion(self, discussion: Discussion, reason: DiscussionReason = "resolved") -> None:
        """Close a discussion."""
        discussion.closed_at, discussion.state_reason = self.now(), reason
