"""The texts of the advisory comment, of the label, of the backlog scan and of the digest."""

from __future__ import annotations

from bot.conversation.messages import variables
from bot.conversation.messages.message import MessageGroup, message


class CommentTexts(MessageGroup):
    """The advisory comment."""

    found = message("The heading over that many candidates, of which the first is likely.", variables.count)
    related = message("The heading over that many candidates, of which the first is possible.", variables.count)
    closest = message("The heading over what a command lists, where the bot would have named none of it unasked.")
    nothing = message("A command asked, and there is nothing to show.")
    nothing_left = message("The comment showed candidates before, and there are none any more.")
    inconclusive = message("The issue holds nothing to search for.")
    degraded_nothing = message("Nothing was found, and a search failed.")
    comma = message("What stands between the members of a list within a sentence.")
    searched_for = message("A command asked with words of its own.", variables.words)
    only_open = message("A command asked for open issues.")
    only_closed = message("A command asked for closed issues.")
    from_confidence = message("A command set how likely candidates must be.", variables.percent)
    from_threshold = message("A command set how alike the titles must be.", variables.percent)
    from_threshold_original = message(
        "The sentence after that, where an issue is shown whose own title is less alike: a duplicate of it matched."
    )
    nearest = message(
        "A command asked, and nothing is likely enough: the closest issue, and the option that shows it.",
        variables.issue_percent_option,
    )
    unasked = message(
        "A command asked: which of the issues the bot would have named unasked, and how likely they must be.",
        variables.issues_percent,
    )
    unasked_none = message("The same where there are none.", variables.percent)
    people_decide = message("Below the candidates: that this is a suggestion.")
    people_decide_still = message("The same where the bot may have changed something: it sets the label by itself.")
    summary = message("The title of the folded part.")
    checked = message("The last line: when the bot looked.", variables.time)


class CandidateTexts(MessageGroup):
    """One candidate."""

    state_open = message("It is open.")
    state_closed = message("It is closed, without a reason.")
    state_completed = message("It was closed as completed.")
    may_be_fixed = message(
        "It was closed, and a later release than the one that this issue names may mend it.", variables.release
    )
    state_regression = message(
        "It was closed as completed and may be the same, so the problem may be back; this stands behind its state."
    )
    state_not_planned = message("It was closed as not planned.")
    state_duplicate = message("It was closed in favour of another issue.")
    closed_on = message(
        "The same with the day; `state` is one of the texts for what is no longer open.", variables.state_day
    )
    closed_by = message("The same with the pull request or the commit that closed it, too.", variables.state_day_by)
    reported = message("When it was opened.", variables.day)
    workflow = message("Its status in the project's board.", variables.status)
    pull_open = message("It is an open pull request.")
    pull_merged = message("It is a pull request that was merged.")
    pull_closed = message("It is a pull request that was closed without merging.")
    discussion_open = message("It is a discussion without an accepted answer.")
    discussion_answered = message("It is a discussion with an accepted answer.")
    discussion_closed = message("It is a closed discussion.")
    also = message("Further issues that report the same as this candidate.", variables.issues)
    also_more = message("That many more are not listed.", variables.count)
    named = message("The issue's own text names this candidate.")
    very_likely = message("A probability of 85% or more that it is the same.", variables.percent)
    likely = message("A probability of 60% or more, or as the setting `likely` has it.", variables.percent)
    possibly = message("A probability of 10% or more.", variables.percent)
    unlikely = message("A lower probability.", variables.percent)
    titles_alike = message("How alike the titles are, letter by letter.", variables.percent)
    reason_copy = message("Both have the same title and text.")
    reason_cause = message("A language model read both, and named the cause that they share.", variables.cause)
    reason_github = message("GitHub itself takes the two for duplicates.")
    reason_message = message("Both quote the same error message.", variables.message)
    reason_identifiers = message("Both hold the same names from code.", variables.names)
    reason_titles = message("Both titles hold the same words.", variables.words)
    reason_surface = message(
        "Labels place the two on different surfaces; `mine` is this issue's.", variables.mine_theirs
    )
    reason_words = message("Both texts hold the same words.", variables.words)
    by_meaning = message("Found by the semantic index alone; there are no words to name.")


class SearchTexts(MessageGroup):
    """The searches, folded below the comment."""

    queries = message("The heading over the queries.")
    query = message("One query, what came of it, and the source that was asked.", variables.query_notes_source)
    no_answer = message("A query was not answered.")
    results = message("A number of results.", variables.count)
    incomplete = message("GitHub gave up early, so that results may be missing.")
    cached = message("The answer is that of an earlier time of day.", variables.time_of_day)
    cached_hint = message("How to ask again, where an answer was an earlier one.")
    problems = message("The heading over what failed.")
    skipped = message("The heading over what was not asked, as policy or permissions have it.")
    remark_not_found = message("So many of the known issues are not there.", variables.count)
    remark_left = message("So many more known issues are looked at only once the index is complete.", variables.count)
    remark_by_words = message("GitHub's semantic search fell back to words; `reasons` are GitHub's.", variables.reasons)
    remark_unread = message("Whether the sibling repositories are public is not known.")
    remark_hidden = message("A sibling repository was hidden while it was searched.")
    remark_left_out = message(
        "So many of the siblings that the settings name may not be shown here.", variables.missing_named
    )
    remark_no_permission = message("The App may not read discussions.")
    remark_empty = message("GitHub answered nothing.")
    remark_search_limit = message("No search by words is allowed just now.")
    remark_hybrid_limit = message("No search by meaning is allowed just now.")
    remark_too_late = message("A source did not answer within so many seconds, and was not needed.", variables.count)
    remark_judge_unreached = message("The judge, a language model, did not answer.")
    remark_judge_unusable = message("What the judge wrote is no answer to the question.")
    remark_judge_budget = message("The judge may not be asked more often for now.")
    remark_judge_paused = message("The judge failed a moment ago, and is left alone for a while.")
    remark_failed = message("A fault of our own kept a source from answering.")
    source_github_search = message("What the source `github-search` is called.")
    source_github_hybrid = message("What the source `github-hybrid` is called.")
    source_github_similar = message("What the source `github-similar` is called.")
    source_full_text = message("What the source `full-text` is called.")
    source_vectors = message("What the source `vectors` is called.")
    source_pull_requests = message("What the source `pull-requests` is called.")
    source_discussions = message("What the source `discussions` is called.")
    source_siblings = message("What the source `siblings` is called.")
    source_known_issues = message("What the source `known-issues` is called.")


class ScanTexts(MessageGroup):
    """The backlog scan."""

    scan_title = message("The title of the one issue that shows the result.")
    scan_begun = message("`scan` has started; no earlier scan left an issue.", variables.count_wait_title)
    scan_begun_known = message("`scan` has started; its issue exists already.", variables.count_wait_issue)
    scan_not_ready = message("`scan` was given before all issues were read.", variables.seen_expected)
    scan_not_begun = message("`scan` was given before any issue was read.")
    scan_found = message("How much there is to gain.", variables.groups_among_issues)
    scan_nothing = message("There is nothing to gain.", variables.among)
    among_open = message('What was looked through: open issues. It follows "among".', variables.count)
    among_all = message('What was looked through: open and closed issues. It follows "among".', variables.count)
    scan_how = message("How to read the list.")
    scan_sums = message("All reactions and comments on the issues of a group.", variables.issues_up_down_comments)
    comments = message("A number of comments.", variables.count)
    groups = message("A number of groups.", variables.count)
    issues = message("A number of issues.", variables.count)
    scan_left_out = message("What did not fit into an issue.", variables.groups_issues)


class LabelTexts(MessageGroup):
    """The suggested label."""

    label_rationale = message(
        "Why the label is suggested; shown by GitHub as plain text, and without a link.", variables.percent_number
    )


class DigestTexts(MessageGroup):
    """The digest of a week."""

    bar_moved = message(
        "In the comment: the probability from which issues are shown, and the usual one.", variables.bar_usual
    )
    bar_usual = message("The probability from which issues are shown, where nothing has changed it.", variables.bar)
    bar_settings = message("The same where the settings say it.", variables.bar)
    bar_feedback = message(
        "The same where feedback has moved it, with the weights of what was said for and against.",
        variables.bar_right_wrong,
    )
    digest_title = message("The title of the one issue with the digest.")
    ill_given_up = message("The bot is ill here: it gave up the last delivery.")
    ill_refused = message("The bot is ill here: GitHub refused the last comment.")
    ill_late = message("The bot is ill here: it has not looked at the newest issue.")
    digest_looked = message("How many issues the bot looked at between two days.", variables.since_until_issues_new)
    digest_commented = message("How many it commented on.", variables.count)
    digest_would = message("How many it would have commented on (`mode: shadow`).", variables.count)
    digest_so_far = message("The feedback on these comments; the parts are the next four.", variables.parts)
    digest_right = message("That many were right.", variables.count)
    digest_wrong = message("That many were wrong.", variables.count)
    digest_disputed = message("On that many, people disagree.", variables.count)
    digest_unknown = message("That many have no feedback yet.", variables.count)
    digest_missed = message(
        "How many the bot was silent on that had been reported before, as people say.", variables.count
    )
    digest_judge = message(
        "How often the judge was asked, and what that cost in the host's money.", variables.count_cost
    )
    digest_how = message("What the boxes are for, and how to end the digest.")
    digest_named = message(
        "Below an issue: the first one in the comment, and what people say of it.", variables.issue_percent_standing
    )
    digest_would_name = message("The same where nothing was posted.", variables.issue_percent_standing)
    digest_more = message("How many further issues there are.", variables.count)
    box_same = message("The box for a pair that reports the same.")
    box_other = message("The box for a pair that does not.")
    standing_right = message("People say that a comment was right.")
    standing_wrong = message("People say that a comment was wrong.")
    standing_disputed = message("People disagree about a comment.")
    standing_unknown = message("A comment has no feedback yet.")
    standing_by = message("What people say, and how they said it.", variables.standing_how)
    said_reaction = message("By a reaction to the comment.")
    said_box = message("By a box of this digest.")
    said_vote = message("By a button of the dashboard.")
    said_suggestion = message("By approving or dismissing the bot's suggestion on GitHub.")
    said_closed = message("By how they closed the issue.")
    said_retitled = message("By the title that they gave it since.")
