"""The messages of the advisory comment, the label, the backlog scan and the digest."""

from __future__ import annotations

from bot.conversation.messages import variables
from bot.conversation.messages.message import MessageGroup, message


class CommentTexts(MessageGroup):
    """The advisory comment."""

    found = message("The heading over the candidates, the first of which is likely.", variables.count)
    related = message("The heading over the candidates, the first of which is only possible.", variables.count)
    closest = message(
        "The heading over the candidates that a command lists, if the bot would not have named any unasked."
    )
    nothing = message("A command asked, and there is no candidate to show.")
    nothing_left = message("The comment showed candidates before, and no candidate is left.")
    inconclusive = message("The issue has no words to search for.")
    degraded_nothing = message("No candidate was found, and a search failed.")
    comma = message("The separator of a list within a sentence.")
    searched_for = message("A command asked with its own words.", variables.words)
    only_open = message("A command asked for open issues only.")
    only_closed = message("A command asked for closed issues only.")
    from_confidence = message("A command set the lowest probability of candidates.", variables.percent)
    from_threshold = message("A command set the lowest similarity of the titles.", variables.percent)
    from_threshold_original = message(
        "After `from_threshold`, if an issue with a less similar title is shown because its duplicate matched."
    )
    nearest = message(
        "A command asked, and no issue is likely enough: the closest issue, and the option that shows it.",
        variables.issue_percent_option,
    )
    unasked = message(
        "A command asked: the issues that the bot would have named unasked, and the lowest probability for that.",
        variables.issues_percent,
    )
    unasked_none = message("A command asked, and the bot would have named no issue unasked.", variables.percent)
    people_decide = message("Below the candidates: this is only a suggestion.")
    people_decide_still = message("The same as `people_decide`, if the bot sets the label by itself.")
    summary = message("The title of the folded part.")
    checked = message("The last line: the time of the search.", variables.time)


class CandidateTexts(MessageGroup):
    """One candidate."""

    state_open = message("The candidate is open.")
    state_closed = message("The candidate was closed without a reason.")
    state_completed = message("The candidate was closed as completed.")
    may_be_fixed = message(
        "The candidate was closed, and a later release than the one in this issue may have fixed it.", variables.release
    )
    state_regression = message("After the state: the candidate was closed as completed, and the problem may be back.")
    state_not_planned = message("The candidate was closed as not planned.")
    state_duplicate = message("The candidate was closed in favour of another issue.")
    closed_on = message(
        "The state of a closed candidate and the day; `state` is one of the texts for closed candidates.",
        variables.state_day,
    )
    closed_by = message(
        "The same as `closed_on`, with the pull request or commit that closed the candidate.", variables.state_day_by
    )
    reported = message("The day on which the candidate was opened.", variables.day)
    workflow = message("The candidate's status in the project's board.", variables.status)
    pull_open = message("The candidate is an open pull request.")
    pull_merged = message("The candidate is a merged pull request.")
    pull_closed = message("The candidate is a pull request that was closed without merging.")
    discussion_open = message("The candidate is a discussion without an accepted answer.")
    discussion_answered = message("The candidate is a discussion with an accepted answer.")
    discussion_closed = message("The candidate is a closed discussion.")
    also = message("Further issues that report the same problem as this candidate.", variables.issues)
    also_more = message("The number of further issues that are not listed.", variables.count)
    named = message("The issue's own text names this candidate.")
    very_likely = message(
        "The candidate reports the same problem with a probability of 85% or more.", variables.percent
    )
    likely = message("A probability of 60% or more, or from the setting `likely` on.", variables.percent)
    possibly = message("A probability of 10% or more.", variables.percent)
    unlikely = message("A probability below 10%.", variables.percent)
    titles_alike = message("The similarity of the titles, letter by letter.", variables.percent)
    reason_copy = message("Both issues have the same title and text.")
    reason_cause = message("A language model read both issues, and named their shared cause.", variables.cause)
    reason_github = message("GitHub itself considers the two issues duplicates.")
    reason_message = message("Both issues quote the same error message.", variables.message)
    reason_identifiers = message("Both issues contain the same names from code.", variables.names)
    reason_titles = message("Both titles contain the same words.", variables.words)
    reason_surface = message(
        "Labels place the two issues on different surfaces; `mine` is the surface of this issue.", variables.mine_theirs
    )
    reason_words = message("Both texts contain the same words.", variables.words)
    by_meaning = message("Only the semantic index found the candidate, so there are no shared words to name.")


class SearchTexts(MessageGroup):
    """The searches, folded below the comment."""

    queries = message("The heading over the queries.")
    query = message("One query, its results, and the source that was asked.", variables.query_notes_source)
    no_answer = message("A query got no answer.")
    results = message("The number of results.", variables.count)
    incomplete = message("GitHub stopped the search early, so results may be missing.")
    cached = message("The answer comes from the cache; `time` is when it was received.", variables.time_of_day)
    cached_hint = message("How to ask again, if an answer comes from the cache.")
    problems = message("The heading over the sources that failed.")
    skipped = message("The heading over the sources that were not asked, because of policy or permissions.")
    remark_not_found = message("The number of known issues that do not exist.", variables.count)
    remark_left = message(
        "The number of further known issues that are searched only when the index is complete.", variables.count
    )
    remark_by_words = message(
        "GitHub's semantic search searched by words instead; `reasons` are GitHub's.", variables.reasons
    )
    remark_unread = message("It is unknown whether the sibling repositories are public.")
    remark_hidden = message("A sibling repository became private during the search.")
    remark_left_out = message(
        "The number of siblings in the settings whose issues may not be shown here.", variables.missing_named
    )
    remark_no_permission = message("The App may not read discussions.")
    remark_empty = message("GitHub's answer was empty.")
    remark_search_limit = message("The limit of searches by words is used up for the moment.")
    remark_hybrid_limit = message("The limit of semantic searches is used up for the moment.")
    remark_too_late = message(
        "A source did not answer within `count` seconds, and the search went on without it.", variables.count
    )
    remark_judge_unreached = message("The judge, a language model, did not answer.")
    remark_judge_unusable = message("The judge's answer does not fit the question.")
    remark_judge_budget = message("The judge's budget is used up for the moment.")
    remark_judge_paused = message("The judge failed a moment ago, and is not asked for a while.")
    remark_failed = message("A source failed because of an error in the bot.")
    source_github_search = message("The name of the source `github-search`.")
    source_github_hybrid = message("The name of the source `github-hybrid`.")
    source_github_similar = message("The name of the source `github-similar`.")
    source_full_text = message("The name of the source `full-text`.")
    source_vectors = message("The name of the source `vectors`.")
    source_pull_requests = message("The name of the source `pull-requests`.")
    source_discussions = message("The name of the source `discussions`.")
    source_siblings = message("The name of the source `siblings`.")
    source_known_issues = message("The name of the source `known-issues`.")


class ScanTexts(MessageGroup):
    """The backlog scan."""

    scan_title = message("The title of the issue that shows the result.")
    scan_begun = message("`scan` has started, and will open a new issue.", variables.count_wait_title)
    scan_begun_known = message(
        "`scan` has started, and will edit the issue of an earlier scan.", variables.count_wait_issue
    )
    scan_not_ready = message("A person used `scan` before the bot had read all issues.", variables.seen_expected)
    scan_not_begun = message("A person used `scan` before the bot had read any issue.")
    scan_found = message("The number of groups, and of the issues that could be closed.", variables.groups_among_issues)
    scan_nothing = message("The scan found no group.", variables.among)
    among_open = message('The scanned issues: open issues. The text follows "among".', variables.count)
    among_all = message('The scanned issues: open and closed issues. The text follows "among".', variables.count)
    scan_how = message("How to read the list.")
    scan_sums = message(
        "The sum of the reactions and comments on the issues of a group.", variables.issues_up_down_comments
    )
    comments = message("The number of comments.", variables.count)
    groups = message("The number of groups.", variables.count)
    issues = message("The number of issues.", variables.count)
    scan_left_out = message("The groups and issues that did not fit into the issue.", variables.groups_issues)


class LabelTexts(MessageGroup):
    """The suggested label."""

    label_rationale = message(
        "The reason for the suggested label, which GitHub shows as plain text without a link.", variables.percent_number
    )


class DigestTexts(MessageGroup):
    """The digest of a week."""

    bar_moved = message(
        "In the comment: the lowest probability of shown issues, and the usual one.", variables.bar_usual
    )
    bar_usual = message("The lowest probability of shown issues, if it is the default.", variables.bar)
    bar_settings = message("The lowest probability of shown issues, if the settings set it.", variables.bar)
    bar_feedback = message(
        "The lowest probability of shown issues, if feedback has moved it; `right` and `wrong` are weights.",
        variables.bar_right_wrong,
    )
    digest_title = message("The title of the issue with the digest.")
    ill_given_up = message("A fault of the bot in this repository: it gave up the last delivery.")
    ill_refused = message("A fault of the bot in this repository: GitHub refused the last comment.")
    ill_late = message("A fault of the bot in this repository: it has not read the newest issue.")
    digest_looked = message(
        "The number of issues that the bot looked at between two days.", variables.since_until_issues_new
    )
    digest_commented = message("The number of issues that the bot commented on.", variables.count)
    digest_would = message(
        "The number of issues that the bot would have commented on (`mode: shadow`).", variables.count
    )
    digest_so_far = message("The feedback on the comments; `parts` are the next four texts.", variables.parts)
    digest_right = message("The number of comments that were right.", variables.count)
    digest_wrong = message("The number of comments that were wrong.", variables.count)
    digest_disputed = message("The number of comments about which people disagree.", variables.count)
    digest_unknown = message("The number of comments without feedback.", variables.count)
    digest_missed = message(
        "The number of issues without a comment that had been reported before, according to people.", variables.count
    )
    digest_judge = message(
        "The number of questions to the judge, and their cost in the host's currency.", variables.count_cost
    )
    digest_how = message("The purpose of the boxes, and how to end the digest.")
    digest_named = message(
        "Below an issue: the first candidate in the comment, and the feedback on it.", variables.issue_percent_standing
    )
    digest_would_name = message(
        "The same as `digest_named`, if no comment was posted.", variables.issue_percent_standing
    )
    digest_more = message("The number of further issues.", variables.count)
    box_same = message("The box for two issues that report the same problem.")
    box_other = message("The box for two issues that report different problems.")
    standing_right = message("According to people, the comment was right.")
    standing_wrong = message("According to people, the comment was wrong.")
    standing_disputed = message("People disagree about the comment.")
    standing_unknown = message("The comment has no feedback yet.")
    standing_by = message("The feedback, and how people gave it.", variables.standing_how)
    said_reaction = message("Feedback by a reaction to the comment.")
    said_box = message("Feedback by a box of this digest.")
    said_vote = message("Feedback by a button of the dashboard.")
    said_suggestion = message("Feedback by approving or dismissing the bot's suggestion on GitHub.")
    said_closed = message("Feedback by the way in which people closed the issue.")
