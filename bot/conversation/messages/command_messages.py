"""The texts of the help, of what a command can be answered, and of a settings file that has problems."""

from __future__ import annotations

from bot.conversation.messages import variables
from bot.conversation.messages.message import MessageGroup, message


class HelpTexts(MessageGroup):
    """The help, and the commands below the comment."""

    correct = message("The heading over the commands that correct the comment.")
    command = message("One command or option, and what it does.", variables.command_says)
    command_anyone = message(
        "One command that is open to everybody, where each says for whom it is.", variables.command_says
    )
    command_for = message("One command that is not open to everybody.", variables.command_says_who)
    help_intro = message("The first line of the help.")
    help_options = message("The line over the options.")
    help_limit = message("How many commands a person can give.", variables.most_wait)
    seconds = message("A time to wait.", variables.count)
    minutes = message("A longer time to wait.", variables.count)
    who_anyone = message('Who may: everybody. It follows "for", as the next two do.')
    who_author_or_triage = message("Who may: the author, and people with triage access.")
    who_triage = message("Who may: people with triage access.")
    command_recheck = message("What `/duplicates` does.")
    command_search = message("What `search` does.")
    command_explain = message("What `explain` does.")
    command_not = message("What `not` does.")
    command_not_elsewhere = message("What `not` does with an issue of another repository.")
    command_of = message("What `of` does.")
    command_undo = message("What `undo` does.")
    command_mute = message("What `mute` does.")
    command_unmute = message("What `unmute` does.")
    command_scan = message("What `scan` does.")
    command_help = message("What `help` does.")
    option_open = message("What the option `open` does.")
    option_closed = message("What `closed` does.")
    option_all = message("What `all` does.")
    option_confidence = message("What `confidence=` does.")
    option_threshold = message("What `threshold=` does.")
    option_limit = message("What `limit=` does.")
    option_fresh = message("What `fresh` does.")


class MistakeTexts(MessageGroup):
    """Commands that cannot be carried out as they are written, or not by everybody."""

    misspelt = message("Not a command; `suggestion` is the nearest.", variables.word_suggestion)
    misspelt_far = message("Not a command, and none is near.", variables.word)
    number_missing = message("The issue number is missing.", variables.syntax)
    number_unreadable = message("What was given is not an issue number.", variables.value_syntax)
    other_repository = message("The issue that was given is in another repository.", variables.value)
    words_missing = message("`search` without words.", variables.syntax)
    words_too_long = message("`search` with too much text.", variables.most)
    option_value = message(
        "An option whose value cannot be read, or is out of range; `most` is the highest `limit`.",
        variables.value_most_examples,
    )
    too_much = message("A command with something after it that does not belong there.", variables.value_syntax)
    too_many = message("A comment holds more commands than are carried out.", variables.most)
    forbidden = message("The person who asked may not use this command.", variables.command_who)
    rate_limited = message("Somebody gives too many commands.", variables.most_wait)
    github_refused = message("GitHub refused; `detail` is its own message, without the full stop.", variables.detail)
    issue_gone = message("There is no issue with that number here (it may be a discussion).", variables.issue)
    not_an_issue = message("The number names a pull request.", variables.issue)


class AnswerTexts(MessageGroup):
    """What commands are answered."""

    not_done = message("`not` was noted.", variables.issue)
    not_elsewhere = message("`not` was noted for an issue of another repository.", variables.issue)
    not_shown_here = message("`not` with an issue of another repository that was not shown here.", variables.issue)
    not_already = message("`not` had been given before.", variables.issue)
    of_done = message("`of` has closed the issue.", variables.issue)
    of_done_root = message(
        "`of` has closed it in favour of the original of the issue that was named.", variables.asked_issue
    )
    of_done_closed = message("`of` has closed it in favour of an issue that is closed.", variables.issue)
    of_already = message("`of` had been given before.", variables.issue)
    itself = message("A command with the issue's own number.")
    of_newer = message("`of` with a newer issue.", variables.issue)
    of_leads = message(
        "`of` with a duplicate of an issue that cannot be used; `says` is the answer about that one.",
        variables.asked_issue_says,
    )
    of_circle = message("`of` with an issue that was closed in favour of this one.", variables.issue)
    undo_not = message("`undo` has taken back a `not`.", variables.issue)
    undo_not_holds = message("`undo` has taken back a `not` that somebody else gave as well.", variables.issue)
    undo_of = message("`undo` has taken back an `of`, and the issue is open again.", variables.issue)
    undo_of_closed = message("`undo` has taken back an `of`; the issue had been closed before.", variables.issue)
    undo_nothing = message("`undo` without anything to take back.")
    muted = message("`mute` was noted.")
    muted_already = message("`mute` had been given before.")
    muted_recheck = message("The comment of a muted issue was brought up to date.")
    answered_above = message("A re-check is answered by the comment, which is far above.", variables.link)
    unmuted = message("`unmute` was noted.")
    unmuted_already = message("`unmute` where nothing was muted.")
    comment_deleted = message("A maintainer deleted the comment, so it is not posted again.")
    explain_heading = message("The first line of `explain`.", variables.issue_title)
    explain_not_found = message("No search found that issue.")
    explain_no_reason = message("The two have nothing telling in common.")
    explain_confidence = message("The probability that they are the same.", variables.confidence)
    explain_no_confidence = message("There is no probability yet.")
    explain_found_by = message("The sources that found that issue.", variables.sources)
    explain_duplicate = message(
        "A duplicate of that issue that was found as well, and the sources that found it.",
        variables.issue_confidence_sources,
    )
    explain_queries = message("The line above the queries that found it.")


class SettingsTexts(MessageGroup):
    """What is wrong with the settings file."""

    settings_problems = message("The heading over the problems, in the comment.")
    settings_intro = message("The sentence over the problems, in a reply.", variables.source)
    settings_private = message("That there are problems, where the file itself is private.", variables.count)
    settings_line = message("One problem.", variables.line_column_message)
    settings_hint = message(
        "What was probably meant; it follows the problem and begins with its own punctuation.", variables.hint
    )
    settings_more = message("That many more problems are not listed.", variables.count)
    wrong_value = message("A setting has a value that it does not accept.", variables.value_wanted)
    unknown_setting = message("There is no such setting.", variables.name)
    closing_gone = message("The setting by which the bot closed issues by itself, which it no longer does.")
    unknown_text = message("`templates` names a text that does not exist.", variables.name)
    unknown_variable = message("A template uses a variable that its text does not have.", variables.name_variable)
    template_malformed = message("A template has braces that are not a variable.", variables.piece)
    template_forbidden = message("A template would mention people or link to an issue.", variables.piece)
    template_variables = message("A template has too many variables.", variables.most)
    list_too_long = message("A list is longer than is read.", variables.count_most)
    key_twice = message("A key is given twice.", variables.line)
    no_yaml = message("The file is not YAML; `problem` is the parser's own English.", variables.problem)
    no_yaml_character = message("A character that YAML does not allow.")
    several_documents = message("The file holds more than one YAML document.")
    no_mapping = message("The file is not a list of keys with values.")
    too_deep = message("Something is nested too deeply.")
    key_no_word = message("A key is more than one word.")
    anchors = message("The file uses anchors or aliases.")
    tags = message("The file uses tags.")
    file_too_long = message("The file has too many characters.", variables.most_written)
    file_too_large = message("The file is so large that GitHub does not show it.")
    a_mapping = message("What was given: a mapping.")
    a_list = message("What was given: a list.")
    no_value = message("What was given: nothing.")
    quoted = message("A text of the file, in quotation marks.", variables.value)
    either = message("What a setting accepts: one of several values; `first` is a list.", variables.first_last)
    never_reached = message(
        "A threshold is so high that nothing is ever said to be so likely; `highest` is the highest that helps.",
        variables.value_highest,
    )
    wants_number = message("A number between two.", variables.least_most)
    wants_whole = message("A whole number between two.", variables.least_most)
    wants_text = message("A text that is not too long.", variables.what_most)
    wants_list = message("A list that is not too long.", variables.most_what)
    wants_mapping = message("A mapping with these keys.", variables.keys)
    wants_texts = message("A mapping of names to texts.")
    a_login = message("A person's or App's login.")
    logins = message("Logins, in “a list of at most 100 …”.")
    a_label = message("A label.")
    labels = message("Labels, likewise.")
    a_type = message("An issue type.")
    types = message("Issue types, likewise.")
    associations = message("What authors can be to a repository, likewise.")
    a_glob = message("A glob.")
    globs = message("Globs, likewise.")
    a_repository = message("A repository as it has to be written.")
    repositories = message("Repositories, likewise.")
    issue_numbers = message("Numbers of issues, likewise.")
    a_text = message("A text.")
