"""Asking the finder about an issue in the way that its repository's settings and a command want it."""

from __future__ import annotations

from dataclasses import replace

from bot.conversation.commands import Options
from bot.conversation.config.schema import ASKED_MOST
from bot.domain.entities import Issue
from bot.domain.errors import Unavailable
from bot.domain.report import Report
from bot.platform.metrics import FIND_SECONDS, FINDS
from bot.platform.tracing import span
from bot.quality.feedback import decisions_on_pairs
from bot.quality.known_issues import RepositoryWords
from bot.search.finder import Finder, Outside, bot_options, finder_settings, further_sources
from bot.search.ranking.keywords import has_usable_words
from handlers.visit import Visit

UNASKED_SECONDS = 2.0
"""F8b: what sources over the network have beside a complete index, where nobody asked."""


def finder_for(
    visit: Visit, issue: Issue, *, fresh: bool = False, within: float | None = None, judged: bool = False
) -> Finder:
    """A finder for this issue that remembers its searches for some minutes (T5), unless they shall be `fresh`.

    It looks in the repository's own index as soon as that is complete, and in GitHub's searches alone until then.
    `within` is as in `Finder`; with `judged` the host's judge reads what is found, where it has one.
    """
    services, repository, judge = visit.services, visit.repository, visit.services.judge
    # Forms cost requests, and their headings matter only where the issue has headings.
    forms = services.issue_forms.headings(visit.github, visit.repository) if "##" in issue.body else ()
    github = visit.thread(fresh=fresh)
    index = services.indexing.progress(visit.repository.id)
    return Finder(
        github,
        words=RepositoryWords(services.store.words, visit.repository.id, issue),
        issues=index.size,
        settings=finder_settings(visit.config, headings=forms, workflow_field=services.settings.workflow_field),
        matcher=services.matcher if index.done else None,
        outside=Outside(services.index),
        repo_id=visit.repository.id,
        further=further_sources(visit.config, github, services.settings.siblings),
        within=within,
        judge=judge.of(repository.id, visit.config.judge, private=repository.private) if judge and judged else None,
    )


def find(
    visit: Visit,
    issue: Issue,
    options: Options | None = None,
    words: tuple[str, ...] = (),
    *,
    show_named: bool = True,
    asked: bool = False,
) -> Report:
    """Look for earlier issues; `options` and `words` are those of a command, which lists the best there are.

    Who has `asked` waits for what takes its time; of its own accord the bot waits for the index alone (F8b). What the
    issue's text names already is marked, or left out unless `show_named`.

    Raises Unavailable where nothing was found and a question is open that may be answered later: the queue then tries
    again, since neither silence nor "nothing found" would be true (F9). What was answered is remembered till then.
    Where the repository's own index has answered, that is enough.
    """
    # Words that say nothing are no question, to which the closest issues would be no answer (F9).
    listing = options is not None and (not words or has_usable_words(" ".join(words)))
    options = options or Options()
    store, repo_id = visit.services.store, visit.repository.id
    with FIND_SECONDS.time(), span("find") as traced:
        decided = decisions_on_pairs(store, repo_id)
        finder = finder_for(visit, issue, fresh=options.fresh, within=None if asked else UNASKED_SECONDS, judged=True)
        unasked = bot_options(
            visit.config,
            issue,
            visit.threshold.value,
            rejected=decided.different_from(visit.number) | visit.own_issues,
            rejected_elsewhere=store.elsewhere.rejected(repo_id, visit.number),
            duplicates=decided.originals,
        )
        wanted = replace(
            unasked,
            threshold=options.threshold or unasked.threshold,
            min_confidence=unasked.min_confidence if options.confidence is None and not listing else options.confidence,
            max_candidates=options.limit or max(unasked.max_candidates, ASKED_MOST if listing else 0),
            state=options.state or unasked.state,
            words=" ".join(words),
            show_named=show_named,
        )
        report = finder.find(issue, wanted)
        traced.set_attribute("outcome", report.outcome.value)
        traced.set_attribute("candidates", len(report.candidates))
    FINDS.labels(report.outcome.value).inc()
    if not report.candidates and not report.indexed and any(query.later for query in report.queries):
        raise Unavailable(f"not every search about {visit.repo}#{visit.number} was answered")
    return report
