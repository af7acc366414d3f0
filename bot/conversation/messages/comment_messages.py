"""The messages of the advisory comment, the label, the backlog scan and the digest."""

from __future__ import annotations

from bot.conversation.messages.message import Message, MessageGroup


class CommentTexts(MessageGroup):
    """The advisory comment."""

    found = Message("The heading over the candidates, the first of which is likely.")
    related = Message("The heading over the candidates, the first of which is only possible.")
    closest = Message(
        "The heading over the candidates that a command lists, if the bot would not have named any unasked."
    )
    nothing = Message("A command asked, and there is no candidate to show.")
    nothing_left = Message("The comment showed candidates before, and no candidate is left.")
    inconclusive = Message("The issue has no words to search for.")
    degraded_nothing = Message("No candidate was found, and a search failed.")
    comma = Message("The separator of a list within a sentence.")
    searched_for = Message("A command asked with its own words.")
    only_open = Message("A command asked for open issues only.")
    only_closed = Message("A command asked for closed issues only.")
    from_confidence = Message("A command set the lowest probability of candidates.")
    from_threshold = Message("A command set the lowest similarity of the titles.")
    from_threshold_original = Message(
        "After `from_threshold`, if an issue with a less similar title is shown because its duplicate matched."
    )
    nearest = Message(
        "A command asked, and no issue is likely enough: the closest issue, and the option that shows it."
    )
    unasked = Message(
        "A command asked: the issues that the bot would have named unasked, and the lowest probability for that."
    )
    unasked_none = Message("A command asked, and the bot would have named no issue unasked.")
    people_decide = Message("Below the candidates: this is only a suggestion.")
    people_decide_still = Message("The same as `people_decide`, if the bot sets the label by itself.")
    summary = Message("The title of the folded part.")
    checked = Message("The last line: the time of the search.")


class CandidateTexts(MessageGroup):
    """One candidate."""

    state_open = Message("The candidate is open.")
    state_closed = Message("The candidate was closed without a reason.")
    state_completed = Message("The candidate was closed as completed.")
    may_be_fixed = Message(
        "The candidate was closed, and a later release than the one in this issue may have fixed it."
    )
    state_regression = Message("After the state: the candidate was closed as completed, and the problem may be back.")
    state_not_planned = Message("The candidate was closed as not planned.")
    state_duplicate = Message("The candidate was closed in favour of another issue.")
    closed_on = Message(
        "The state of a closed candidate and the day; `state` is one of the texts for closed candidates."
    )
    closed_by = Message("The same as `closed_on`, with the pull request or commit that closed the candidate.")
    reported = Message("The day on which the candidate was opened.")
    workflow = Message("The candidate's status in the project's board.")
    pull_open = Message("The candidate is an open pull request.")
    pull_merged = Message("The candidate is a merged pull request.")
    pull_closed = Message("The candidate is a pull request that was closed without merging.")
    discussion_open = Message("The candidate is a discussion without an accepted answer.")
    discussion_answered = Message("The candidate is a discussion with an accepted answer.")
    discussion_closed = Message("The candidate is a closed discussion.")
    also = Message("Further issues that report the same problem as this candidate.")
    also_more = Message("The number of further issues that are not listed.")
    named = Message("The issue's own text names this candidate.")
    very_likely = Message("The candidate reports the same problem with a probability of 85% or more.")
    likely = Message("A probability of 60% or more, or from the setting `likely` on.")
    possibly = Message("A probability of 10% or more.")
    unlikely = Message("A probability below 10%.")
    titles_alike = Message("The similarity of the titles, letter by letter.")
    reason_copy = Message("Both issues have the same title and text.")
    reason_cause = Message("A language model read both issues, and named their shared cause.")
    reason_github = Message("GitHub itself considers the two issues duplicates.")
    reason_message = Message("Both issues quote the same error message.")
    reason_identifiers = Message("Both issues contain the same names from code.")
    reason_titles = Message("Both titles contain the same words.")
    reason_surface = Message("Labels place the two issues on different surfaces; `mine` is the surface of this issue.")
    reason_words = Message("Both texts contain the same words.")
    by_meaning = Message("Only the semantic index found the candidate, so there are no shared words to name.")


class SearchTexts(MessageGroup):
    """The searches, folded below the comment."""

    queries = Message("The heading over the queries.")
    query = Message("One query, its results, and the source that was asked.")
    no_answer = Message("A query got no answer.")
    results = Message("The number of results.")
    incomplete = Message("GitHub stopped the search early, so results may be missing.")
    cached = Message("The answer comes from the cache; `time` is when it was received.")
    cached_hint = Message("How to ask again, if an answer comes from the cache.")
    problems = Message("The heading over the sources that failed.")
    skipped = Message("The heading over the sources that were not asked, because of policy or permissions.")
    remark_not_found = Message("The number of known issues that do not exist.")
    remark_left = Message("The number of further known issues that are searched only when the index is complete.")
    remark_by_words = Message("GitHub's semantic search searched by words instead; `reasons` are GitHub's.")
    remark_unread = Message("It is unknown whether the sibling repositories are public.")
    remark_hidden = Message("A sibling repository became private during the search.")
    remark_left_out = Message("The number of siblings in the settings whose issues may not be shown here.")
    remark_no_permission = Message("The App may not read discussions.")
    remark_empty = Message("GitHub's answer was empty.")
    remark_search_limit = Message("The limit of searches by words is used up for the moment.")
    remark_hybrid_limit = Message("The limit of semantic searches is used up for the moment.")
    remark_too_late = Message("A source did not answer within `count` seconds, and the search went on without it.")
    remark_judge_unreached = Message("The judge, a language model, did not answer.")
    remark_judge_unusable = Message("The judge's answer does not fit the question.")
    remark_judge_budget = Message("The judge's budget is used up for the moment.")
    remark_judge_paused = Message("The judge failed a moment ago, and is not asked for a while.")
    remark_failed = Message("A source failed because of an error in the bot.")
    source_github_search = Message("The name of the source `github-search`.")
    source_github_hybrid = Message("The name of the source `github-hybrid`.")
    source_github_similar = Message("The name of the source `github-similar`.")
    source_full_text = Message("The name of the source `full-text`.")
    source_vectors = Message("The name of the source `vectors`.")
    source_pull_requests = Message("The name of the source `pull-requests`.")
    source_discussions = Message("The name of the source `discussions`.")
    source_siblings = Message("The name of the source `siblings`.")
    source_known_issues = Message("The name of the source `known-issues`.")


class ScanTexts(MessageGroup):
    """The backlog scan."""

    scan_title = Message("The title of the issue that shows the result.")
    scan_begun = Message("`scan` has started, and will open a new issue.")
    scan_begun_known = Message("`scan` has started, and will edit the issue of an earlier scan.")
    scan_not_ready = Message("A person used `scan` before the bot had read all issues.")
    scan_not_begun = Message("A person used `scan` before the bot had read any issue.")
    scan_found = Message("The number of groups, and of the issues that could be closed.")
    scan_nothing = Message("The scan found no group.")
    among_open = Message('The scanned issues: open issues. The text follows "among".')
    among_all = Message('The scanned issues: open and closed issues. The text follows "among".')
    scan_how = Message("How to read the list.")
    scan_sums = Message("The sum of the reactions and comments on the issues of a group.")
    comments = Message("The number of comments.")
    groups = Message("The number of groups.")
    issues = Message("The number of issues.")
    scan_left_out = Message("The groups and issues that did not fit into the issue.")


class LabelTexts(MessageGroup):
    """The suggested label."""

    label_rationale = Message("The reason for the suggested label, which GitHub shows as plain text without a link.")


class DigestTexts(MessageGroup):
    """The digest of a week."""

    bar_moved = Message("In the comment: the lowest probability of shown issues, and the usual one.")
    bar_usual = Message("The lowest probability of shown issues, if it is the default.")
    bar_settings = Message("The lowest probability of shown issues, if the settings set it.")
    bar_feedback = Message(
        "The lowest probability of shown issues, if feedback has moved it; `right` and `wrong` are weights."
    )
    digest_title = Message("The title of the issue with the digest.")
    ill_given_up = Message("A fault of the bot in this repository: it gave up the last delivery.")
    ill_refused = Message("A fault of the bot in this repository: GitHub refused the last comment.")
    ill_late = Message("A fault of the bot in this repository: it has not read the newest issue.")
    digest_looked = Message("The number of issues that the bot looked at between two days.")
    digest_commented = Message("The number of issues that the bot commented on.")
    digest_would = Message("The number of issues that the bot would have commented on (`mode: shadow`).")
    digest_so_far = Message("The feedback on the comments; `parts` are the next four texts.")
    digest_right = Message("The number of comments that were right.")
    digest_wrong = Message("The number of comments that were wrong.")
    digest_disputed = Message("The number of comments about which people disagree.")
    digest_unknown = Message("The number of comments without feedback.")
    digest_missed = Message(
        "The number of issues without a comment that had been reported before, according to people."
    )
    digest_judge = Message("The number of questions to the judge, and their cost in the host's currency.")
    digest_how = Message("The purpose of the boxes, and how to end the digest.")
    digest_named = Message("Below an issue: the first candidate in the comment, and the feedback on it.")
    digest_would_name = Message("The same as `digest_named`, if no comment was posted.")
    digest_more = Message("The number of further issues.")
    box_same = Message("The box for two issues that report the same problem.")
    box_other = Message("The box for two issues that report different problems.")
    standing_right = Message("According to people, the comment was right.")
    standing_wrong = Message("According to people, the comment was wrong.")
    standing_disputed = Message("People disagree about the comment.")
    standing_unknown = Message("The comment has no feedback yet.")
    standing_by = Message("The feedback, and how people gave it.")
    said_reaction = Message("Feedback by a reaction to the comment.")
    said_box = Message("Feedback by a box of this digest.")
    said_vote = Message("Feedback by a button of the dashboard.")
    said_suggestion = Message("Feedback by approving or dismissing the bot's suggestion on GitHub.")
    said_closed = Message("Feedback by the way in which people closed the issue.")
