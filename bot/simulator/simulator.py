"""A GitHub of our own, in one object: the state, the operations on it, and their effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bot.simulator import manifest as manifests
from bot.simulator.clock import Clock
from bot.simulator.deliveries import Post
from bot.simulator.faults import Faults
from bot.simulator.keys import shared_pair
from bot.simulator.limits import Limits
from bot.simulator.operations import (
    accounts,
    apps,
    comments,
    discussions,
    files,
    installations,
    issues,
    labels,
    leaving,
    loading,
    projects,
    reactions,
    repositories,
    suggestions,
)
from bot.simulator.search import Document, SearchIndex
from bot.simulator.state.issues import Issue
from bot.simulator.state.world import World
from bot.simulator.webhooks import Webhooks

WORKFLOW = {"contents": "read", "issues": "write"}
"""The permissions of the workflow in docs/guides/action.md."""


class Simulator(World):
    """The state, the operations on it as methods, and `faults`, `limits`, `webhooks`, `index`.

    `app` is the one GitHub App that exists from the start; its permissions and events are those of `app.yml`.
    `unknown_requests` lists requests that the simulator does not know; tests assert that it is empty. `validate` checks
    requests, answers and webhooks with githubkit's models. `violations` lists requests at which the simulator itself
    failed, for example because an answer or a webhook did not pass that check.
    """

    who = accounts.who
    add_user = accounts.add_user
    add_organization = accounts.add_organization
    user_token = accounts.user_token

    register_app = apps.register_app
    generate_key = apps.generate_key
    delete_oldest_key = apps.delete_oldest_key
    manifest_code = apps.manifest_code
    convert_manifest = apps.convert_manifest
    sign_in_code = apps.sign_in_code
    exchange_sign_in = apps.exchange_sign_in

    install = installations.install
    remove_from_installation = installations.remove_from_installation
    drop = installations.drop  # removes one repository from one installation
    uninstall = installations.uninstall
    suspend = installations.suspend
    set_permissions = installations.set_permissions
    make_installation_token = installations.make_installation_token

    add_repository = repositories.add_repository
    set_permission = repositories.set_permission
    set_similarity = repositories.set_similarity
    rename_repository = repositories.rename_repository
    transfer_repository = repositories.transfer_repository
    set_private = repositories.set_private
    archive_repository = repositories.archive_repository
    delete_repository = repositories.delete_repository

    write_file = files.write_file

    create_label = labels.create_label
    edit_label = labels.edit_label
    delete_label = labels.delete_label
    add_labels = labels.add_labels
    remove_label = labels.remove_label
    set_labels = labels.set_labels

    open_issue = issues.open_issue
    edit_issue = issues.edit_issue
    close_issue = issues.close_issue
    merge_pull_request = issues.merge_pull_request
    reopen_issue = issues.reopen_issue
    lock_issue = issues.lock_issue
    unlock_issue = issues.unlock_issue

    delete_issue = leaving.delete_issue
    transfer_issue = leaving.transfer_issue

    comment = comments.comment
    edit_comment = comments.edit_comment
    delete_comment = comments.delete_comment

    react = reactions.react
    unreact = reactions.unreact

    suggest_label = suggestions.suggest_label
    suggest_closing = suggestions.suggest_closing
    resolve_suggestion = suggestions.resolve_suggestion

    add_project = projects.add_project
    set_status = projects.set_status

    start_discussion = discussions.start_discussion
    close_discussion = discussions.close_discussion

    load_issues = loading.load_issues
    load_rows = loading.load_rows

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        webhook_url: str = "",
        webhook_secret: str = "simulated-webhook-secret",  # noqa: S107 - made up, and known to all
        post: Post | None = None,
        validate: bool = True,
    ) -> None:
        super().__init__(clock)
        self.validate = validate
        self.index = SearchIndex()
        self.faults = Faults()
        self.limits = Limits(self.clock)
        self.webhooks = Webhooks(self, post, validate=validate)
        self.listener = self.webhooks.announce
        self.unknown_requests: list[str] = []
        self.violations: list[str] = []
        self.app = self.register_app(manifests.of_this_project(), "doppel-maker", shared_pair())
        # The manifest names a real host. The simulator delivers only to `webhook_url`.
        self.app.hook.url, self.app.hook.secret = webhook_url, webhook_secret

    def workflow_token(self, repository: str, permissions: Mapping[str, str] = WORKFLOW) -> str:
        """The `GITHUB_TOKEN` of a GitHub Actions job: it has the workflow's `permissions`, only in this repository.

        Here, all such tokens of an owner share 1,000 requests an hour. On GitHub, each repository has 1,000
        (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
        """
        actions = next((app for app in self.apps.values() if app.slug == "github-actions"), None)
        if actions is None:
            allowed = dict.fromkeys(("contents", "issues", "metadata", "pull_requests"), "write")
            manifest = manifests.Manifest("GitHub Actions", allowed, ("issues", "issue_comment"))
            actions = self.register_app(manifest, "github", shared_pair())
        installation = self.install(repository, app_id=actions.id)
        self.limits.others.setdefault(f"installation:{installation.id}", 1_000)  # requests an hour
        return self.make_installation_token(installation, permissions, [self.repository(repository)]).token

    def flush_index(self) -> None:
        """Bring the search index up to date. Call this before a search, under the lock if other threads run."""
        for repo in self.repositories.values():
            self.index.put_repository(repo.full_name, private=repo.private, archived=repo.archived)
        for key in self.unindexed:
            issue = self.issues_by_id.get(key)
            if issue is None:
                self.index.remove(key)
            else:
                self.index.put(_document(issue))
        self.unindexed.clear()


def _document(issue: Issue) -> Document:
    """An issue as the search engine stores it."""
    reactions = Counter(reaction.content for reaction in issue.reactions)
    return Document(
        id=issue.id,
        repo=issue.repository.full_name,
        number=issue.number,
        title=issue.title,
        body=issue.body or "",
        comments=tuple(comment.body for comment in issue.comments),
        commenters=tuple(comment.author.login for comment in issue.comments),
        is_pull_request=issue.is_pull_request,
        state=issue.state,
        state_reason=issue.state_reason,
        author=issue.author.login,
        labels=tuple(label.name for label in issue.labels),
        created_at=issue.created_at,
        updated_at=issue.updated_at,
        closed_at=issue.closed_at,
        merged_at=issue.merged_at,
        locked=issue.locked,
        reactions=len(issue.reactions),
        reactions_by_content=reactions,
        comment_count=len(issue.comments),
    )
