"""The texts of the help, of what a command can be answered, and of a settings file that has problems."""

from __future__ import annotations

from bot.conversation.messages import variables as shapes
from bot.conversation.messages.message import Texts, text


class HelpTexts(Texts):
    """The help, and the commands below the comment."""

    correct = text("The heading over the commands that correct the comment.")
    command = text("One command or option, and what it does.", shapes.command_says)
    command_anyone = text("One command that is open to everybody, where each says for whom it is.", shapes.command_says)
    command_for = text("One command that is not open to everybody.", shapes.command_says_who)
    help_intro = text("The first line of the help.")
    help_options = text("The line over the options.")
    help_limit = text("How many commands a person can give.", shapes.most_wait)
    seconds = text("A time to wait.", shapes.count)
    minutes = text("A longer time to wait.", shapes.count)
    who_anyone = text('Who may: everybody. It follows "for", as the next two do.')
    who_author_or_triage = text("Who may: the author, and people with triage access.")
    who_triage = text("Who may: people with triage access.")
    command_recheck = text("What `/duplicates` does.")
    command_search = text("What `search` does.")
    command_explain = text("What `explain` does.")
    command_not = text("What `not` does.")
    command_not_elsewhere = text("What `not` does with an issue of another repository.")
    command_of = text("What `of` does.")
    command_undo = text("What `undo` does.")
    command_mute = text("What `mute` does.")
    command_unmute = text("What `unmute` does.")
    command_scan = text("What `scan` does.")
    command_help = text("What `help` does.")
    option_open = text("What the option `open` does.")
    option_closed = text("What `closed` does.")
    option_all = text("What `all` does.")
    option_confidence = text("What `confidence=` does.")
    option_threshold = text("What `threshold=` does.")
    option_limit = text("What `limit=` does.")
    option_fresh = text("What `fresh` does.")


class MistakeTexts(Texts):
    """Commands that cannot be carried out as they are written, or not by everybody."""

    misspelt = text("Not a command; `suggestion` is the nearest.", shapes.word_suggestion)
    misspelt_far = text("Not a command, and none is near.", shapes.word)
    number_missing = text("The issue number is missing.", shapes.syntax)
    number_unreadable = text("What was given is not an issue number.", shapes.value_syntax)
    other_repository = text("The issue that was given is in another repository.", shapes.value)
    words_missing = text("`search` without words.", shapes.syntax)
    words_too_long = text("`search` with too much text.", shapes.most)
    option_value = text(
        "An option whose value cannot be read, or is out of range; `most` is the highest `limit`.",
        shapes.value_most_examples,
    )
    too_much = text("A command with something after it that does not belong there.", shapes.value_syntax)
    too_many = text("A comment holds more commands than are carried out.", shapes.most)
    forbidden = text("The person who asked may not use this command.", shapes.command_who)
    rate_limited = text("Somebody gives too many commands.", shapes.most_wait)
    github_refused = text("GitHub refused; `detail` is its own message, without the full stop.", shapes.detail)
    issue_gone = text("There is no issue with that number here (it may be a discussion).", shapes.issue)
    not_an_issue = text("The number names a pull request.", shapes.issue)


class AnswerTexts(Texts):
    """What commands are answered."""

    not_done = text("`not` was noted.", shapes.issue)
    not_elsewhere = text("`not` was noted for an issue of another repository.", shapes.issue)
    not_shown_here = text("`not` with an issue of another repository that was not shown here.", shapes.issue)
    not_already = text("`not` had been given before.", shapes.issue)
    of_done = text("`of` has closed the issue.", shapes.issue)
    of_done_root = text("`of` has closed it in favour of the original of the issue that was named.", shapes.asked_issue)
    of_done_closed = text("`of` has closed it in favour of an issue that is closed.", shapes.issue)
    of_already = text("`of` had been given before.", shapes.issue)
    itself = text("A command with the issue's own number.")
    of_newer = text("`of` with a newer issue.", shapes.issue)
    of_leads = text(
        "`of` with a duplicate of an issue that cannot be used; `says` is the answer about that one.",
        shapes.asked_issue_says,
    )
    of_circle = text("`of` with an issue that was closed in favour of this one.", shapes.issue)
    undo_not = text("`undo` has taken back a `not`.", shapes.issue)
    undo_not_holds = text("`undo` has taken back a `not` that somebody else gave as well.", shapes.issue)
    undo_of = text("`undo` has taken back an `of`, and the issue is open again.", shapes.issue)
    undo_of_closed = text("`undo` has taken back an `of`; the issue had been closed before.", shapes.issue)
    undo_nothing = text("`undo` without anything to take back.")
    muted = text("`mute` was noted.")
    muted_already = text("`mute` had been given before.")
    muted_recheck = text("The comment of a muted issue was brought up to date.")
    answered_above = text("A re-check is answered by the comment, which is far above.", shapes.link)
    unmuted = text("`unmute` was noted.")
    unmuted_already = text("`unmute` where nothing was muted.")
    comment_deleted = text("A maintainer deleted the comment, so it is not posted again.")
    explain_heading = text("The first line of `explain`.", shapes.issue_title)
    explain_not_found = text("No search found that issue.")
    explain_no_reason = text("The two have nothing telling in common.")
    explain_confidence = text("The probability that they are the same.", shapes.confidence)
    explain_no_confidence = text("There is no probability yet.")
    explain_found_by = text("The sources that found that issue.", shapes.sources)
    explain_duplicate = text(
        "A duplicate of that issue that was found as well, and the sources that found it.",
        shapes.issue_confidence_sources,
    )
    explain_queries = text("The line above the queries that found it.")


class SettingsTexts(Texts):
    """What is wrong with the settings file."""

    settings_problems = text("The heading over the problems, in the comment.")
    settings_intro = text("The sentence over the problems, in a reply.", shapes.source)
    settings_private = text("That there are problems, where the file itself is private.", shapes.count)
    settings_line = text("One problem.", shapes.line_column_message)
    settings_hint = text(
        "What was probably meant; it follows the problem and begins with its own punctuation.", shapes.hint
    )
    settings_more = text("That many more problems are not listed.", shapes.count)
    wrong_value = text("A setting has a value that it does not accept.", shapes.value_wanted)
    unknown_setting = text("There is no such setting.", shapes.name)
    closing_gone = text("The setting by which the bot closed issues by itself, which it no longer does.")
    unknown_text = text("`templates` names a text that does not exist.", shapes.name)
    unknown_variable = text("A template uses a variable that its text does not have.", shapes.name_variable)
    template_malformed = text("A template has braces that are not a variable.", shapes.piece)
    template_forbidden = text("A template would mention people or link to an issue.", shapes.piece)
    template_variables = text("A template has too many variables.", shapes.most)
    list_too_long = text("A list is longer than is read.", shapes.count_most)
    key_twice = text("A key is given twice.", shapes.line)
    no_yaml = text("The file is not YAML; `problem` is the parser's own English.", shapes.problem)
    no_yaml_character = text("A character that YAML does not allow.")
    several_documents = text("The file holds more than one YAML document.")
    no_mapping = text("The file is not a list of keys with values.")
    too_deep = text("Something is nested too deeply.")
    key_no_word = text("A key is more than one word.")
    anchors = text("The file uses anchors or aliases.")
    tags = text("The file uses tags.")
    file_too_long = text("The file has too many characters.", shapes.most_written)
    file_too_large = text("The file is so large that GitHub does not show it.")
    a_mapping = text("What was given: a mapping.")
    a_list = text("What was given: a list.")
    no_value = text("What was given: nothing.")
    quoted = text("A text of the file, in quotation marks.", shapes.value)
    either = text("What a setting accepts: one of several values; `first` is a list.", shapes.first_last)
    never_reached = text(
        "A threshold is so high that nothing is ever said to be so likely; `highest` is the highest that helps.",
        shapes.value_highest,
    )
    wants_number = text("A number between two.", shapes.least_most)
    wants_whole = text("A whole number between two.", shapes.least_most)
    wants_text = text("A text that is not too long.", shapes.what_most)
    wants_list = text("A list that is not too long.", shapes.most_what)
    wants_mapping = text("A mapping with these keys.", shapes.keys)
    wants_texts = text("A mapping of names to texts.")
    a_login = text("A person's or App's login.")
    logins = text("Logins, in “a list of at most 100 …”.")
    a_label = text("A label.")
    labels = text("Labels, likewise.")
    a_type = text("An issue type.")
    types = text("Issue types, likewise.")
    associations = text("What authors can be to a repository, likewise.")
    a_glob = text("A glob.")
    globs = text("Globs, likewise.")
    a_repository = text("A repository as it has to be written.")
    repositories = text("Repositories, likewise.")
    issue_numbers = text("Numbers of issues, likewise.")
    a_text = text("A text.")
