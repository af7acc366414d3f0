"""The bot for one run of a workflow: the App's handlers, with a queue in memory, and a token instead of the App (X)."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

from bot.app.action import state
from bot.app.action.runner import EVALUATE, SCAN, RunSummary, WorkflowJob
from bot.app.wiring.clients import build_judge, now
from bot.app.wiring.indexes import FIRST_STEP, MemoryQueue, build_index
from bot.conversation.comments import CommentWriter
from bot.conversation.marker import of_token
from bot.conversation.render.escape import code_block
from bot.deliveries.events import CommentEvent, Event, IndexEvent, IssueEvent, full_name
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import DoppelError, GitHubError, Retryable
from bot.github.token import INSTALLATION, TokenGitHub
from bot.platform import settings as host_settings
from bot.platform.addresses import pages_of
from bot.search.indexer import Indexer
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher
from bot.search.repository_settings import RepositorySettings
from bot.storage import open_store
from handlers import ROUTES, recovery
from handlers.repositories import take_over
from handlers.router import Router
from handlers.scheduled.repository_tasks import poll_feedback, update_digest
from handlers.scheduled.retention import erase_old, tidy
from handlers.services import Services

logger = logging.getLogger(__name__)

READING_SECONDS = 900.0
"""After this many seconds a run begins no more steps of indexing. GitHub charges for a private repository's minutes."""

TRIES, LONGEST_WAIT = 3, 60.0
"""How many times a run tries an event, and the longest wait in seconds before another try."""

# A step of indexing waits at most this many seconds. If a rate limit or an outage lasts longer, the next run reads on.
_LONGEST_PAUSE = 10.0
# Drop events delayed by this many seconds or more: the issue's next event makes up for them. Handle others at once.
_TOO_LATE = 600.0
# For this many seconds issue forms stay cached: they seldom change, and the nightly run reads them again.
_FORMS_SECONDS = 86_400.0
# GitHub shows at most a megabyte of a summary.
_MAX_OUTPUT = 900_000
# A child process gets these variables besides the job's settings.
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY")
# GitHub's API may lack a new issue for this many seconds, so NotFound leads to another try.
_NEW_SECONDS = 30.0


@dataclass
class Workflow:
    """One run. `lines` and `problems` are as in `RunSummary`; `failed` says whether something could not be done.

    `began` is the run's start by `time.monotonic`, and `records_before` the `records_hash` at the start.
    """

    job: WorkflowJob
    github: TokenGitHub
    services: Services
    pending: MemoryQueue
    restored: state.Restored
    began: float
    records_before: int
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failed: bool = False
    index_steps: int = 0
    repository: Repository | None = None

    def handle(self, event: Event) -> RunSummary:
        """Handle an issue event as the App does, then go on filling the index."""
        assert isinstance(event, IssueEvent | CommentEvent)
        repository = event.repository
        self._register(repository)
        ready = self.services.indexing.ready(repository.id)
        if ready:
            # Earlier runs may not have saved their state: read what has changed since the last save.
            self._begin_reading(repository)
            self._read_on(limit=1)
        self.pending.put(f"run-{self.job.run}", event)
        self._handle_pending()
        if not ready:
            self._begin_reading(repository)
        self._read_on()
        return self.summary(event.number)

    def run_task(self) -> RunSummary:
        """Do the task of a run that no issue event started."""
        task, results = self.job.task, self.job.home / "results"
        results.mkdir(parents=True, exist_ok=True)
        if task == SCAN:
            # Scan only a complete index. If this run cannot complete it, the next run reads on.
            if self.fill():
                self._run_command("scan", "--html", str(results / "scan.html"), "--markdown")
        elif task == EVALUATE:
            self._run_command("evaluate", "--picture", str(results / "evaluation.svg"), fenced=True)
        else:
            return self.upkeep()
        return self.summary()

    def _run_command(self, name: str, *options: str, fenced: bool = False) -> None:
        """Run a `doppel` command on the repository, and put its output into the summary."""
        database = self.services.settings.database_url
        passed_on = {variable: os.environ[variable] for variable in _PASSED_ON if variable in os.environ}
        environ = passed_on | dict(self.job.settings) | {"DATABASE_URL": database, "COLUMNS": "100"}
        command = (sys.executable, "-m", "bot", name, str(self.job.repo), *options)
        result = subprocess.run(command, env=environ, cwd=self.job.home, capture_output=True, text=True, check=False)
        if result.returncode:
            self.fail(result.stderr.strip().rpartition("\n")[2].removeprefix("doppel: "))
        else:
            text = result.stdout[:_MAX_OUTPUT]
            self.lines.append(code_block(text.rstrip("\n")) if fenced else text)

    def upkeep(self) -> RunSummary:
        """Do the scheduled work of the App's workers."""
        self.fill()
        for task in (poll_feedback, erase_old, tidy, self._digest):
            try:
                task(self.services)
            except (GitHubError, Retryable) as failure:
                self.fail(f"{task.__name__.replace('_', ' ').strip()}: {failure}")
        self._handle_pending()
        return self.summary()

    def _digest(self, services: Services) -> None:
        """Update the digest without the warning of the bot's failures: finding failures needs the App's queue."""
        known = services.store.repositories.get(self.repository.id) if self.repository else None
        if known is not None and not known.archived and not services.settings.paused:
            update_digest(services, known, INSTALLATION)

    def fill(self) -> bool:
        """Fill the index of the job's repository; return whether the index is complete."""
        # The repository's id is still unknown. Pass 0: the client of a token ignores the id.
        repository = self.github.in_repository(INSTALLATION, 0).repository(self.job.repo)
        self._register(repository)
        self._begin_reading(repository)
        self._read_on()
        return self.services.indexing.ready(repository.id)

    def close(self) -> bool:
        """Close the store. If the next run needs the state, shrink the state for the cache and return True."""
        store, database = self.services.store, self.job.state
        needed = (
            self.restored is not state.Restored.WHOLE
            or not self.job.is_issue_event
            # A run reads one step even if the index is complete. One step is not worth saving: the next run repeats it.
            or self.index_steps > 1
            or state.records_hash(store) != self.records_before
            # To save a small state costs next to nothing.
            or database.stat().st_size < state.SMALL
        )
        store.close()
        if needed:
            logger.info("the state has %.1f MB before the cache compresses it", state.shrink(database) / 1e6)
        return needed

    def _register(self, repository: Repository) -> None:
        """Store the repository; recover people's decisions since the last recovery, or all at first."""
        self.repository = repository
        take_over(repository, INSTALLATION, self.services)
        client = self.github.in_repository(INSTALLATION, repository.id)
        if not recovery.recover(client, repository, self.services):
            self.problems.append(
                "What people said in earlier threads could not be read again just now; the next run tries again."
            )

    def _handle_pending(self) -> None:
        """Handle waiting events, except steps of indexing."""
        while (queued := self.pending.take(background=False)) is not None:
            if queued.delay < _TOO_LATE:
                self._handle_with_retries(queued.event)

    def _begin_reading(self, repository: Repository) -> None:
        event = IndexEvent(INSTALLATION, repository, f"run-{self.job.run}", FIRST_STEP)
        self.pending.put(event.delivery_id, event)

    def _read_on(self, limit: int | None = None) -> None:
        """Fill or update the index while the run has time, for at most `limit` steps; handle other events meanwhile."""
        while limit != 0 and (queued := self.pending.take(background=True)) is not None:
            if queued.delay > _LONGEST_PAUSE or time.monotonic() - self.began > READING_SECONDS:
                return
            time.sleep(queued.delay)
            if queued.event.name == "index":
                self.index_steps += 1
                limit = None if limit is None else limit - 1
            self._handle_with_retries(queued.event)

    def _handle_with_retries(self, event: Event) -> None:
        """Handle an event; if it may succeed after a short wait, wait and try again."""
        router = Router(ROUTES)
        for attempt in range(1, TRIES + 1):
            services = replace(self.services, arrived=self.services.now(), delivery=f"run-{self.job.run}")
            try:
                router.dispatch(event, services, new=(attempt == 1 and time.monotonic() - self.began < _NEW_SECONDS))
                return
            except Retryable as failure:
                wait = failure.after or 5.0 * attempt
                if attempt == TRIES or wait > LONGEST_WAIT:
                    self.fail(f"{full_name(event)}: {failure}")
                    return
                logger.info("%s: %s; again in %.0f s", full_name(event), failure, wait)
                time.sleep(wait)
            except DoppelError as failure:
                self.fail(f"{full_name(event)}: {failure}")
                return

    def fail(self, why: str) -> None:
        self.failed = True
        self.problems.append(why)

    def summary(self, number: int = 0) -> RunSummary:
        """The summary of the run, with the decision about issue `number` unless that is 0."""
        services, repo_id = self.services, self.repository.id if self.repository else 0
        decisions = services.store.decisions.of_issue(repo_id, number) if number else []
        began_at = services.now() - (time.monotonic() - self.began)
        decision = next((one for one in reversed(decisions) if one.at >= began_at), None)
        comment = services.store.comments.get(repo_id, number) if number else None
        with services.index.view(repo_id) as view:
            rows = view.issues([one.number for one in decision.evidence if one.own] if decision else [])
        if self.repository:
            self._note_settings_problems(self.repository)
        return RunSummary(
            repo=self.job.repo,
            pages=pages_of(self.services.settings.github_api_url),
            number=number,
            decision=decision,
            comment_id=comment.comment_id if comment else None,
            titles={row_number: row.title for row_number, row in rows.items()},
            progress=services.store.backfills.get(repo_id) if self.repository else None,
            lines=self.lines,
            problems=[*self.problems, *self._setup_problems()],
            failed=self.failed or bool(self.github.refused),
        )

    def _note_settings_problems(self, repository: Repository) -> None:
        client_of = self.github.in_repository
        loaded = self.services.repository_settings.read(lambda repo_id: client_of(INSTALLATION, repo_id), repository)
        # Not everybody who sees the summary may read a private settings file.
        if loaded.problems and not loaded.private:
            wrong = "; ".join(map(str, loaded.problems))
            self.problems.append(f"{loaded.source}: {wrong}. The valid settings apply.")

    def _setup_problems(self) -> Iterator[str]:
        if self.restored is state.Restored.DAMAGED:
            yield "The state in the cache was damaged, and is made anew."
        if missing := ", ".join(sorted(self.github.refused)):
            yield f"The token lacks {missing}. The workflow needs permissions: {{issues: write, contents: read}}"


@contextmanager
def workflow(job: WorkflowJob) -> Iterator[Workflow]:
    """The bot of one run, with the state from the cache. Raises SettingsError for wrong settings."""
    # The file `none.env` does not exist: all settings come from the job's variables.
    settings = host_settings.load({**job.settings, "DATABASE_URL": f"sqlite:///{job.state}"}, job.home / "none.env")
    # Nothing here needs to survive a power failure: whatever is lost is read again.
    settings = settings.model_copy(update={"sqlite_synchronous": "OFF"})
    began, restored = time.monotonic(), state.check(job.state)
    store = open_store(settings)
    pending, index = MemoryQueue(), build_index(settings, store)
    github = TokenGitHub(
        settings.github_token, api_url=settings.github_api_url, api_version=settings.github_api_version
    )
    services = Services(
        settings=settings,
        github=github,
        store=store,
        repository_settings=RepositorySettings(store, now),
        issue_forms=IssueForms(store, now, cache_seconds=_FORMS_SECONDS),
        comments=CommentWriter(store.comments, of_token(github.login), now, shared=False),  # each run has its own store
        inbox=pending,
        index=index,
        indexing=Indexer(index, store, pending, now, closely=False),  # the text model reads issues only for a search
        matcher=Matcher(index),
        clock=now,
        evaluate=_evaluate,
        judge=build_judge(settings, store),
    )
    with closing(store), closing(github):
        yield Workflow(job, github, services, pending, restored, began, state.records_hash(store))


def _evaluate(repo: RepoRef) -> str:
    """Never called: a workflow has no dashboard to start an evaluation, and its task `evaluate` runs the command."""
    raise AssertionError(f"an evaluation of {repo} within a workflow's event")
