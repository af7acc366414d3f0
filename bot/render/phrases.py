"""Every sentence of comments and replies, in one place: what is in braces is filled in by the code next door.

The values that are filled in are Markdown already (escaped, or written by us). A sentence never ends with the words
that GitHub acts on ("… of" after "duplicate") right before a number.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """The texts of one language; these defaults are the English ones."""

    # The first line of the advisory comment.
    found_one: str = "**This may have been reported before:**"
    found_many: str = "**This may have been reported before.** The closest earlier issues:"
    nothing: str = "**No earlier issue that looks like this one was found.**"
    nothing_left: str = "**Nothing left to show:** no earlier issue looks like this one any more."
    inconclusive: str = "**This could not be checked:** there was nothing to search for properly."
    degraded_nothing: str = (
        "**This could not be checked fully.** Nothing was found, but not every search answered, so that says "
        "little{causes}."
    )
    degraded_found: str = "Not every search answered, so something may be missing here{causes}."
    cause: str = "{source} ({reason})"
    causes_more: str = "{count} more"
    searched_for: str = "Searched for {words}."
    only_state: str = "Only {state} issues were looked at."

    # One candidate.
    state_open: str = "open"
    state_closed: str = "closed"
    state_completed: str = "closed as completed"
    state_regression: str = "closed as completed: **possible regression**"
    state_not_planned: str = "closed as not planned"
    state_duplicate: str = "closed, repeats another issue"
    reported: str = "reported {day}"
    workflow: str = "project status: {status}"
    pull_request: str = "pull request, {state}"
    pull_merged: str = "merged"
    pull_closed: str = "closed without merging"
    discussion: str = "discussion, {state}"
    discussion_answered: str = "answered"
    also: str = "also reported in {issues}"
    also_more: str = "and {count} more"
    named: str = "already named in this issue"
    confidence_very_likely: str = "very likely the same ({percent})"
    confidence_likely: str = "likely the same ({percent})"
    confidence_possible: str = "possibly the same ({percent})"
    confidence_unlikely: str = "perhaps the same ({percent})"
    by_meaning: str = "similar wording overall, by meaning"
    titles_alike: str = "titles {letters} alike by letters, {words} by words"

    # The last lines, and what is folded.
    people_decide: str = "This is a suggestion. People decide, and nothing was changed."
    summary: str = "How this was found, and how to correct it"
    queries: str = "**Searches**"
    hits_none: str = "no answer"
    hits_one: str = "1 result"
    hits_many: str = "{count} results"
    incomplete: str = "incomplete"
    cached: str = "[Cached result from {time}]"
    cached_hint: str = "`/duplicates fresh` asks again."
    totals: str = "{results}, {unique} and {repeats} ({sources})."
    unique_one: str = "1 different one"
    unique_many: str = "{count} different ones"
    repeats_one: str = "1 repeat"
    repeats_many: str = "{count} repeats"
    by_source: str = "{count} by {source}"
    problems: str = "**What did not work**"
    settings_private_one: str = "The owner's settings have a problem; `doppel check-config` shows it."
    settings_private_many: str = "The owner's settings have {count} problems; `doppel check-config` shows them."
    settings_problems: str = "**Problems in the settings file**"
    correct: str = "**To correct this**"
    correct_line: str = "{command} – {says}"
    checked: str = "Checked on {time}."

    # Replies.
    help_intro: str = "Write one of these on a line of its own:"
    help_line: str = "{command} – {says}"
    help_line_for: str = "{command} – {says} (For {who}.)"
    help_options: str = "A re-check takes options, and so does a search after its words:"
    help_option: str = "{option} – {says}"
    help_limit: str = (
        "Each person can give {most} commands in {wait}; every command of a comment counts. For people with triage "
        "access only those count that are for everybody."
    )
    who_anyone: str = "everybody"
    who_author_or_triage: str = "the issue's author, and people with triage access"
    who_triage: str = "people with triage access"
    who_maintain: str = "maintainers"

    not_done: str = "Noted: this issue and {issue} are different. Neither will be shown for the other again."
    not_already: str = "This issue and {issue} were already noted as different."
    of_done: str = "Closed: the discussion continues in {issue}."
    of_done_root: str = "Closed. {asked} leads to {issue}: the discussion continues there."
    of_already: str = "This issue is closed in favour of {issue} already."
    itself: str = "That is this issue itself. Give the number of another one."
    of_newer: str = "{issue} is newer than this one. Close that one in favour of this instead."
    of_closed: str = (
        "{issue} is closed, so the discussion cannot continue there. If the problem is back, open that issue again and "
        "give the command once more; else close this one by hand."
    )
    of_root_unseen: str = (
        "{issue} is closed in favour of another issue, and that leads to no open one that I can see. Give the number "
        "of the open issue where the discussion continues."
    )
    of_circle: str = "That would make a circle: {issue} is itself closed in favour of this issue."
    undo_not: str = "Taken back: {issue} can be shown for this issue again."
    undo_of: str = "Taken back: this issue is open again and no longer tied to {issue}."
    undo_of_closed: str = "Taken back: this issue is no longer tied to {issue}, and closed as it was before."
    undo_nothing: str = "There is nothing of yours to take back here."
    muted: str = "Quiet from now on: this issue is left alone. `/duplicates unmute` changes that."
    muted_already: str = "This issue is left alone already."
    muted_recheck: str = (
        "The comment is up to date. This issue is muted: it is looked at only when a command asks for it. "
        "`/duplicates unmute` changes that."
    )
    unmuted: str = "This issue is looked at again."
    unmuted_already: str = "This issue was not muted."
    comment_deleted: str = "The comment with earlier issues was deleted here, so no other one is posted."
    scan_begun: str = (
        "Looking through {count} open issues in the background, which takes about {wait}. What is found will stand in "
        "an issue of its own, “{title}”."
    )
    scan_begun_known: str = (
        "Looking through {count} open issues in the background, which takes about {wait}. What is found will stand "
        "in {issue}."
    )
    scan_not_ready: str = (
        "I am still reading this repository's issues ({seen} of about {expected}). Please give the command again when "
        "that is done."
    )
    scan_not_begun: str = "I have not begun to read this repository's issues. Please give the command again later."

    # The backlog scan.
    scan_found: str = "**{groups} of issues that may report the same thing**, among {among}: {issues} could be closed."
    scan_nothing: str = "**Nothing found:** among {among} no two are likely enough to report the same thing."
    scan_among_open: str = "{count} open issues"
    scan_among_all: str = "{count} open and closed issues"
    scan_how: str = (
        "Each group begins with its oldest issue, which the others may repeat. Every two of a group are alike, not "
        "only neighbours. Those groups come first where most can be tidied up. This is a suggestion. People decide, "
        "and nothing was changed. Commands for the newer issues:"
    )
    scan_sums: str = "{issues}, together 👍 {up}, 👎 {down}, {comments}"
    scan_comment: str = "1 comment"
    scan_comments: str = "{count} comments"
    scan_group: str = "1 group"
    scan_groups: str = "{count} groups"
    scan_issue: str = "1 issue"
    scan_issues: str = "{count} issues"
    scan_left_out: str = (
        "**Left out here, because an issue has no room for them:** {groups} with {issues} that could be closed. "
        "`doppel scan` shows all of them."
    )

    explain_heading: str = "**{issue}** {title}"
    explain_not_found: str = "none of the searches found it"
    explain_no_reason: str = "no error text, identifier or rare word is in both"
    explain_confidence: str = "all evidence together: {confidence}"
    explain_no_confidence: str = "there is no probability yet; the order is that of the evidence"
    explain_found_by: str = "found by: {sources}"
    explain_queries: str = "what was asked there:"

    misspelt: str = "{word} is not something I know. Did you mean {suggestion}?"
    misspelt_far: str = "{word} is not something I know. `/duplicates help` lists what I do."
    number_missing: str = "Which issue? Write {syntax} with its number."
    number_unreadable: str = "{value} is not the number of an issue. Write {syntax} with its number."
    other_repository: str = "{value} is in another repository. Only issues of this one can be given."
    words_missing: str = "Search for what? Write {syntax}."
    words_too_long: str = "That is too long to search for: at most {most} characters."
    option_value: str = "{value} does not work. Write for example {examples}."
    too_much: str = "I do not understand {value} there. Write {syntax}."
    too_many: str = "Only the first {most} commands of a comment are carried out."

    forbidden: str = "{command} is for {who}."
    rate_limited: str = (
        "That is a lot at once: each person can give {most} commands in {wait}. Please try again in {wait}."
    )
    github_refused: str = (
        "GitHub did not let me do that: {detail}. An administrator can look up what this App may do in the "
        "repository's settings, under GitHub Apps; then give the command again in a new comment."
    )
    issue_gone: str = "{issue} does not exist here, or I am not allowed to see it."
    not_an_issue: str = "{issue} is a pull request; only issues can be given."
    settings_intro: str = "The settings in {source} have problems. What is valid counts; the rest keeps its default."
    settings_line: str = "line {line}, column {column}: {message}"
    settings_hint: str = "did you mean {hint}?"
    settings_more: str = "and {count} more"
    seconds: str = "{count} seconds"
    minutes: str = "{count} minutes"


ENGLISH = Phrases()

SOURCE_NAMES = {
    "github-search": "GitHub's search",
    "github-hybrid": "GitHub's search by meaning",
    "full-text": "the full-text index",
    "vectors": "the index of meanings",
    "pull-requests": "pull requests",
    "discussions": "discussions",
    "siblings": "sibling repositories",
    "known-issues": "known issues",
}
"""What the sources of H6 are called in comments."""
