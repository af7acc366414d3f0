"""The texts of the advisory comment."""

from __future__ import annotations

from datetime import date, datetime

from bot.words.texts import Texts, text


class CommentTexts(Texts):
    """The advisory comment."""

    @text
    def found(self, count: int) -> None:
        """The heading over that many candidates, of which the first is likely."""

    @text
    def related(self, count: int) -> None:
        """The heading over that many candidates, of which the first is possible."""

    @text
    def closest(self) -> None:
        """The heading over what a command lists, where the bot would have named none of it unasked."""

    @text
    def nothing(self) -> None:
        """A command asked, and there is nothing to show."""

    @text
    def nothing_left(self) -> None:
        """The comment showed candidates before, and there are none any more."""

    @text
    def inconclusive(self) -> None:
        """The issue holds nothing to search for."""

    @text
    def degraded_nothing(self) -> None:
        """Nothing was found, and a search failed."""

    @text
    def comma(self) -> None:
        """What stands between the members of a list within a sentence."""

    @text
    def searched_for(self, words: str) -> None:
        """A command asked with words of its own."""

    @text
    def only_open(self) -> None:
        """A command asked for open issues."""

    @text
    def only_closed(self) -> None:
        """A command asked for closed issues."""

    @text
    def from_confidence(self, percent: float) -> None:
        """A command set how likely candidates must be."""

    @text
    def from_threshold(self, percent: float) -> None:
        """A command set how alike the titles must be."""

    @text
    def from_threshold_original(self) -> None:
        """The sentence after that, where an issue is shown whose own title is less alike: a duplicate of it matched."""

    @text
    def nearest(self, issue: str, percent: float, option: str) -> None:
        """A command asked, and nothing is likely enough: the closest issue, and the option that shows it."""

    @text
    def unasked(self, issues: str, percent: float) -> None:
        """A command asked: which of the issues the bot would have named unasked, and how likely they must be."""

    @text
    def unasked_none(self, percent: float) -> None:
        """The same where there are none."""

    @text
    def people_decide(self) -> None:
        """Below the candidates: that this is a suggestion."""

    @text
    def people_decide_still(self) -> None:
        """The same where the bot may have changed something: it sets the label by itself."""

    @text
    def summary(self) -> None:
        """The title of the folded part."""

    @text
    def checked(self, time: datetime) -> None:
        """The last line: when the bot looked."""


class CandidateTexts(Texts):
    """One candidate."""

    @text
    def state_open(self) -> None:
        """It is open."""

    @text
    def state_closed(self) -> None:
        """It is closed, without a reason."""

    @text
    def state_completed(self) -> None:
        """It was closed as completed."""

    @text
    def state_regression(self) -> None:
        """It was closed as completed and may be the same, so the problem may be back; this stands behind its state."""

    @text
    def state_not_planned(self) -> None:
        """It was closed as not planned."""

    @text
    def state_duplicate(self) -> None:
        """It was closed in favour of another issue."""

    @text
    def closed_on(self, state: str, day: date) -> None:
        """The same with the day; `state` is one of the texts for what is no longer open."""

    @text
    def closed_by(self, state: str, day: date, by: str) -> None:
        """The same with the pull request or the commit that closed it, too."""

    @text
    def reported(self, day: date) -> None:
        """When it was opened."""

    @text
    def workflow(self, status: str) -> None:
        """Its status in the project's board."""

    @text
    def pull_open(self) -> None:
        """It is an open pull request."""

    @text
    def pull_merged(self) -> None:
        """It is a pull request that was merged."""

    @text
    def pull_closed(self) -> None:
        """It is a pull request that was closed without merging."""

    @text
    def discussion_open(self) -> None:
        """It is a discussion without an accepted answer."""

    @text
    def discussion_answered(self) -> None:
        """It is a discussion with an accepted answer."""

    @text
    def discussion_closed(self) -> None:
        """It is a closed discussion."""

    @text
    def also(self, issues: str) -> None:
        """Further issues that report the same as this candidate."""

    @text
    def also_more(self, count: int) -> None:
        """That many more are not listed."""

    @text
    def named(self) -> None:
        """The issue's own text names this candidate."""

    @text
    def very_likely(self, percent: float) -> None:
        """A probability of 85% or more that it is the same."""

    @text
    def likely(self, percent: float) -> None:
        """A probability of 60% or more, or as the setting `likely` has it."""

    @text
    def possibly(self, percent: float) -> None:
        """A probability of 10% or more."""

    @text
    def unlikely(self, percent: float) -> None:
        """A lower probability."""

    @text
    def titles_alike(self, percent: float) -> None:
        """How alike the titles are, letter by letter."""

    @text
    def reason_copy(self) -> None:
        """Both have the same title and text."""

    @text
    def reason_github(self) -> None:
        """GitHub itself takes the two for duplicates."""

    @text
    def reason_message(self, message: str) -> None:
        """Both quote the same error message."""

    @text
    def reason_identifiers(self, names: str) -> None:
        """Both hold the same names from code."""

    @text
    def reason_titles(self, words: str) -> None:
        """Both titles hold the same words."""

    @text
    def reason_words(self, words: str) -> None:
        """Both texts hold the same words."""

    @text
    def by_meaning(self) -> None:
        """Found by the semantic index alone; there are no words to name."""


class SearchTexts(Texts):
    """The searches, folded below the comment."""

    @text
    def queries(self) -> None:
        """The heading over the queries."""

    @text
    def query(self, query: str, notes: str, source: str) -> None:
        """One query, what came of it, and the source that was asked."""

    @text
    def no_answer(self) -> None:
        """A query was not answered."""

    @text
    def results(self, count: int) -> None:
        """A number of results."""

    @text
    def incomplete(self) -> None:
        """GitHub gave up early, so that results may be missing."""

    @text
    def cached(self, time: str) -> None:
        """The answer is that of an earlier time of day."""

    @text
    def cached_hint(self) -> None:
        """How to ask again, where an answer was an earlier one."""

    @text
    def problems(self) -> None:
        """The heading over what failed."""

    @text
    def remark_not_found(self, count: int) -> None:
        """So many of the known issues are not there."""

    @text
    def remark_left(self, count: int) -> None:
        """So many more known issues are looked at only once the index is complete."""

    @text
    def remark_by_words(self, reasons: str) -> None:
        """GitHub's semantic search fell back to words; `reasons` are GitHub's."""

    @text
    def remark_unread(self) -> None:
        """Whether the sibling repositories are public is not known."""

    @text
    def remark_hidden(self) -> None:
        """A sibling repository was hidden while it was searched."""

    @text
    def remark_left_out(self, missing: int, named: int) -> None:
        """So many of the siblings that the settings name may not be shown here."""

    @text
    def remark_no_permission(self) -> None:
        """The App may not read discussions."""

    @text
    def remark_empty(self) -> None:
        """GitHub answered nothing."""

    @text
    def remark_search_limit(self) -> None:
        """No search by words is allowed just now."""

    @text
    def remark_hybrid_limit(self) -> None:
        """No search by meaning is allowed just now."""

    @text
    def remark_too_late(self, count: int) -> None:
        """A source did not answer within so many seconds, and was not needed."""

    @text
    def remark_failed(self) -> None:
        """A fault of our own kept a source from answering."""

    @text
    def source_github_search(self) -> None:
        """What the source `github-search` is called."""

    @text
    def source_github_hybrid(self) -> None:
        """What the source `github-hybrid` is called."""

    @text
    def source_github_similar(self) -> None:
        """What the source `github-similar` is called."""

    @text
    def source_full_text(self) -> None:
        """What the source `full-text` is called."""

    @text
    def source_vectors(self) -> None:
        """What the source `vectors` is called."""

    @text
    def source_pull_requests(self) -> None:
        """What the source `pull-requests` is called."""

    @text
    def source_discussions(self) -> None:
        """What the source `discussions` is called."""

    @text
    def source_siblings(self) -> None:
        """What the source `siblings` is called."""

    @text
    def source_known_issues(self) -> None:
        """What the source `known-issues` is called."""
