"""Comments and reactions: what is said about issues."""

from __future__ import annotations

from datetime import datetime

from bot.simulator.errors import ApiError, invalid
from bot.simulator.operations.base import locked
from bot.simulator.operations.issues import IssueOperations, check_text
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import BODY_MAX, REACTIONS, Comment, Issue, Reaction
from bot.simulator.state.repositories import Repository, at_least


class CommentOperations(IssueOperations):
    """Comments and reactions."""

    @locked
    def comment(
        self,
        repository: str | Repository,
        number: int,
        login: str | Account,
        body: str,
        *,
        created_at: datetime | None = None,
    ) -> Comment:
        """Comment on an issue. 403 on a locked one for those who cannot write, 422 for an empty or too long text."""
        issue, author = self.issue(repository, number), self.who(login)
        if not body.strip():
            raise invalid("IssueComment", "data", "unprocessable", "Body can't be blank")
        check_text("IssueComment", "body", body, BODY_MAX)
        # An App may not talk in a locked conversation either, whatever its permissions.
        if issue.locked and (author.app_id or not at_least(self.role_of(issue.repository, author), "write")):
            raise ApiError(403, "Unable to create comment because issue is locked.")
        key, when = self.ids.next("comment"), created_at or self.now()
        made = Comment(key, node_id("IC", issue.repository.id, key), issue, author, body, when, when)
        issue.comments.append(made)
        self.comments_by_id[key] = made
        self.nodes[made.node_id] = made
        self.record(issue, "commented", author, comment=made).created_at = when
        self.act_on_text(issue, author, body, is_comment=True)
        self.touch(issue)
        self.emit("issue_comment", "created", author, repository=issue.repository, issue=issue, comment=made)
        return made

    @locked
    def comments(self, repository: str | Repository, number: int) -> list[Comment]:
        """The comments of an issue, oldest first."""
        return list(self.issue(repository, number).comments)

    @locked
    def edit_comment(self, comment: int | Comment, body: str, actor: str | Account | None = None) -> Comment:
        """Change a comment's text; the same text is no event."""
        found = self._comment(comment)
        check_text("IssueComment", "body", body, BODY_MAX)
        if body == found.body:
            return found
        sender = self.who(actor) if actor else found.author
        before, found.body = found.body, body
        found.updated_at = self.now()
        self.act_on_text(found.issue, sender, body, is_comment=False)
        self.touch(found.issue)
        self.emit(
            "issue_comment",
            "edited",
            sender,
            repository=found.issue.repository,
            issue=found.issue,
            comment=found,
            changes={"body": {"from": before}},
        )
        return found

    @locked
    def delete_comment(self, comment: int | Comment, actor: str | Account | None = None) -> None:
        """Delete a comment."""
        found = self._comment(comment)
        sender = self.who(actor) if actor else found.author
        found.issue.comments.remove(found)
        found.issue.events = [entry for entry in found.issue.events if entry.data.get("comment") is not found]
        del self.comments_by_id[found.id]
        del self.nodes[found.node_id]
        self.touch(found.issue)
        self.emit(
            "issue_comment", "deleted", sender, repository=found.issue.repository, issue=found.issue, comment=found
        )

    @locked
    def react(self, subject: Issue | Comment, login: str | Account, content: str) -> tuple[Reaction, bool]:
        """Add an emoji; the second value is False where that account had given it before. GitHub sends no event."""
        if content not in REACTIONS:
            raise invalid("Reaction", "content", "invalid", value=content)
        account = self.who(login)
        for found in subject.reactions:
            if found.user is account and found.content == content:
                return found, False
        key = self.ids.next("reaction")
        made = Reaction(key, node_id("REA", subject.id, key), account, content, self.now())
        subject.reactions.append(made)
        self.unindexed.add(subject.id if isinstance(subject, Issue) else subject.issue.id)
        return made, True

    @locked
    def unreact(self, subject: Issue | Comment, key: int) -> None:
        """Take one reaction away; KeyError if it is not there."""
        for found in subject.reactions:
            if found.id == key:
                subject.reactions.remove(found)
                self.unindexed.add(subject.id if isinstance(subject, Issue) else subject.issue.id)
                return
        raise KeyError(key)

    def _comment(self, comment: int | Comment) -> Comment:
        return comment if isinstance(comment, Comment) else self.comments_by_id[comment]
