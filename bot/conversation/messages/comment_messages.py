"""The texts of the advisory comment, of the label, of the backlog scan and of the digest."""

from __future__ import annotations

from bot.conversation.messages import variables as shapes
from bot.conversation.messages.message import Texts, text


class CommentTexts(Texts):
    """The advisory comment."""

    found = text("The heading over that many candidates, of which the first is likely.", shapes.count)
    related = text("The heading over that many candidates, of which the first is possible.", shapes.count)
    closest = text("The heading over what a command lists, where the bot would have named none of it unasked.")
    nothing = text("A command asked, and there is nothing to show.")
    nothing_left = text("The comment showed candidates before, and there are none any more.")
    inconclusive = text("The issue holds nothing to search for.")
    degraded_nothing = text("Nothing was found, and a search failed.")
    comma = text("What stands between the members of a list within a sentence.")
    searched_for = text("A command asked with words of its own.", shapes.words)
    only_open = text("A command asked for open issues.")
    only_closed = text("A command asked for closed issues.")
    from_confidence = text("A command set how likely candidates must be.", shapes.percent)
    from_threshold = text("A command set how alike the titles must be.", shapes.percent)
    from_threshold_original = text(
        "The sentence after that, where an issue is shown whose own title is less alike: a duplicate of it matched."
    )
    nearest = text(
        "A command asked, and nothing is likely enough: the closest issue, and the option that shows it.",
        shapes.issue_percent_option,
    )
    unasked = text(
        "A command asked: which of the issues the bot would have named unasked, and how likely they must be.",
        shapes.issues_percent,
    )
    unasked_none = text("The same where there are none.", shapes.percent)
    people_decide = text("Below the candidates: that this is a suggestion.")
    people_decide_still = text("The same where the bot may have changed something: it sets the label by itself.")
    summary = text("The title of the folded part.")
    checked = text("The last line: when the bot looked.", shapes.time)


class CandidateTexts(Texts):
    """One candidate."""

    state_open = text("It is open.")
    state_closed = text("It is closed, without a reason.")
    state_completed = text("It was closed as completed.")
    may_be_fixed = text(
        "It was closed, and a later release than the one that this issue names may mend it.", shapes.release
    )
    state_regression = text(
        "It was closed as completed and may be the same, so the problem may be back; this stands behind its state."
    )
    state_not_planned = text("It was closed as not planned.")
    state_duplicate = text("It was closed in favour of another issue.")
    closed_on = text("The same with the day; `state` is one of the texts for what is no longer open.", shapes.state_day)
    closed_by = text("The same with the pull request or the commit that closed it, too.", shapes.state_day_by)
    reported = text("When it was opened.", shapes.day)
    workflow = text("Its status in the project's board.", shapes.status)
    pull_open = text("It is an open pull request.")
    pull_merged = text("It is a pull request that was merged.")
    pull_closed = text("It is a pull request that was closed without merging.")
    discussion_open = text("It is a discussion without an accepted answer.")
    discussion_answered = text("It is a discussion with an accepted answer.")
    discussion_closed = text("It is a closed discussion.")
    also = text("Further issues that report the same as this candidate.", shapes.issues)
    also_more = text("That many more are not listed.", shapes.count)
    named = text("The issue's own text names this candidate.")
    very_likely = text("A probability of 85% or more that it is the same.", shapes.percent)
    likely = text("A probability of 60% or more, or as the setting `likely` has it.", shapes.percent)
    possibly = text("A probability of 10% or more.", shapes.percent)
    unlikely = text("A lower probability.", shapes.percent)
    titles_alike = text("How alike the titles are, letter by letter.", shapes.percent)
    reason_copy = text("Both have the same title and text.")
    reason_cause = text("A language model read both, and named the cause that they share.", shapes.cause)
    reason_github = text("GitHub itself takes the two for duplicates.")
    reason_message = text("Both quote the same error message.", shapes.message)
    reason_identifiers = text("Both hold the same names from code.", shapes.names)
    reason_titles = text("Both titles hold the same words.", shapes.words)
    reason_surface = text("Labels place the two on different surfaces; `mine` is this issue's.", shapes.mine_theirs)
    reason_words = text("Both texts hold the same words.", shapes.words)
    by_meaning = text("Found by the semantic index alone; there are no words to name.")


class SearchTexts(Texts):
    """The searches, folded below the comment."""

    queries = text("The heading over the queries.")
    query = text("One query, what came of it, and the source that was asked.", shapes.query_notes_source)
    no_answer = text("A query was not answered.")
    results = text("A number of results.", shapes.count)
    incomplete = text("GitHub gave up early, so that results may be missing.")
    cached = text("The answer is that of an earlier time of day.", shapes.time_of_day)
    cached_hint = text("How to ask again, where an answer was an earlier one.")
    problems = text("The heading over what failed.")
    skipped = text("The heading over what was not asked, as policy or permissions have it.")
    remark_not_found = text("So many of the known issues are not there.", shapes.count)
    remark_left = text("So many more known issues are looked at only once the index is complete.", shapes.count)
    remark_by_words = text("GitHub's semantic search fell back to words; `reasons` are GitHub's.", shapes.reasons)
    remark_unread = text("Whether the sibling repositories are public is not known.")
    remark_hidden = text("A sibling repository was hidden while it was searched.")
    remark_left_out = text(
        "So many of the siblings that the settings name may not be shown here.", shapes.missing_named
    )
    remark_no_permission = text("The App may not read discussions.")
    remark_empty = text("GitHub answered nothing.")
    remark_search_limit = text("No search by words is allowed just now.")
    remark_hybrid_limit = text("No search by meaning is allowed just now.")
    remark_too_late = text("A source did not answer within so many seconds, and was not needed.", shapes.count)
    remark_judge_unreached = text("The judge, a language model, did not answer.")
    remark_judge_unusable = text("What the judge wrote is no answer to the question.")
    remark_judge_budget = text("The judge may not be asked more often for now.")
    remark_judge_paused = text("The judge failed a moment ago, and is left alone for a while.")
    remark_failed = text("A fault of our own kept a source from answering.")
    source_github_search = text("What the source `github-search` is called.")
    source_github_hybrid = text("What the source `github-hybrid` is called.")
    source_github_similar = text("What the source `github-similar` is called.")
    source_full_text = text("What the source `full-text` is called.")
    source_vectors = text("What the source `vectors` is called.")
    source_pull_requests = text("What the source `pull-requests` is called.")
    source_discussions = text("What the source `discussions` is called.")
    source_siblings = text("What the source `siblings` is called.")
    source_known_issues = text("What the source `known-issues` is called.")


class ScanTexts(Texts):
    """The backlog scan."""

    scan_title = text("The title of the one issue that shows the result.")
    scan_begun = text("`scan` has started; no earlier scan left an issue.", shapes.count_wait_title)
    scan_begun_known = text("`scan` has started; its issue exists already.", shapes.count_wait_issue)
    scan_not_ready = text("`scan` was given before all issues were read.", shapes.seen_expected)
    scan_not_begun = text("`scan` was given before any issue was read.")
    scan_found = text("How much there is to gain.", shapes.groups_among_issues)
    scan_nothing = text("There is nothing to gain.", shapes.among)
    among_open = text('What was looked through: open issues. It follows "among".', shapes.count)
    among_all = text('What was looked through: open and closed issues. It follows "among".', shapes.count)
    scan_how = text("How to read the list.")
    scan_sums = text("All reactions and comments on the issues of a group.", shapes.issues_up_down_comments)
    comments = text("A number of comments.", shapes.count)
    groups = text("A number of groups.", shapes.count)
    issues = text("A number of issues.", shapes.count)
    scan_left_out = text("What did not fit into an issue.", shapes.groups_issues)


class LabelTexts(Texts):
    """The suggested label."""

    label_rationale = text(
        "Why the label is suggested; shown by GitHub as plain text, and without a link.", shapes.percent_number
    )


class DigestTexts(Texts):
    """The digest of a week."""

    bar_moved = text(
        "In the comment: the probability from which issues are shown, and the usual one.", shapes.bar_usual
    )
    bar_usual = text("The probability from which issues are shown, where nothing has changed it.", shapes.bar)
    bar_settings = text("The same where the settings say it.", shapes.bar)
    bar_feedback = text(
        "The same where feedback has moved it, with the weights of what was said for and against.",
        shapes.bar_right_wrong,
    )
    digest_title = text("The title of the one issue with the digest.")
    ill_given_up = text("The bot is ill here: it gave up the last delivery.")
    ill_refused = text("The bot is ill here: GitHub refused the last comment.")
    ill_late = text("The bot is ill here: it has not looked at the newest issue.")
    digest_looked = text("How many issues the bot looked at between two days.", shapes.since_until_issues_new)
    digest_commented = text("How many it commented on.", shapes.count)
    digest_would = text("How many it would have commented on (`mode: shadow`).", shapes.count)
    digest_so_far = text("The feedback on these comments; the parts are the next four.", shapes.parts)
    digest_right = text("That many were right.", shapes.count)
    digest_wrong = text("That many were wrong.", shapes.count)
    digest_disputed = text("On that many, people disagree.", shapes.count)
    digest_unknown = text("That many have no feedback yet.", shapes.count)
    digest_missed = text("How many the bot was silent on that had been reported before, as people say.", shapes.count)
    digest_judge = text("How often the judge was asked, and what that cost in the host's money.", shapes.count_cost)
    digest_how = text("What the boxes are for, and how to end the digest.")
    digest_named = text(
        "Below an issue: the first one in the comment, and what people say of it.", shapes.issue_percent_standing
    )
    digest_would_name = text("The same where nothing was posted.", shapes.issue_percent_standing)
    digest_more = text("How many further issues there are.", shapes.count)
    box_same = text("The box for a pair that reports the same.")
    box_other = text("The box for a pair that does not.")
    standing_right = text("People say that a comment was right.")
    standing_wrong = text("People say that a comment was wrong.")
    standing_disputed = text("People disagree about a comment.")
    standing_unknown = text("A comment has no feedback yet.")
    standing_by = text("What people say, and how they said it.", shapes.standing_how)
    said_reaction = text("By a reaction to the comment.")
    said_box = text("By a box of this digest.")
    said_vote = text("By a button of the dashboard.")
    said_suggestion = text("By approving or dismissing the bot's suggestion on GitHub.")
    said_closed = text("By how they closed the issue.")
    said_retitled = text("By the title that they gave it since.")
