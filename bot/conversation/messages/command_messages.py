"""The messages of the help, of the answers to commands, and of problems in a settings file."""

from __future__ import annotations

from bot.conversation.messages import variables
from bot.conversation.messages.message import MessageGroup, message


class HelpTexts(MessageGroup):
    """The help, and the commands below the comment."""

    correct = message("The heading over the commands that correct the comment.")
    command = message("One command or option, and what it does.", variables.command_says)
    command_anyone = message(
        "One command that everybody may use, in a list that says for each command who may use it.",
        variables.command_says,
    )
    command_for = message("One command that not everybody may use.", variables.command_says_who)
    help_intro = message("The first line of the help.")
    help_options = message("The line above the options.")
    help_limit = message("The number of commands that one person may use.", variables.most_wait)
    seconds = message("A waiting time in seconds.", variables.count)
    minutes = message("A waiting time in minutes.", variables.count)
    who_anyone = message('Everybody may use the command. The text follows "for", like the next two texts.')
    who_author_or_triage = message("The author and people with triage access may use the command.")
    who_triage = message("People with triage access may use the command.")
    command_recheck = message("What `/duplicates` does.")
    command_search = message("What `search` does.")
    command_explain = message("What `explain` does.")
    command_not = message("What `not` does.")
    command_not_elsewhere = message("What `not` does for an issue of another repository.")
    command_of = message("What `of` does.")
    command_undo = message("What `undo` does.")
    command_mute = message("What `mute` does.")
    command_unmute = message("What `unmute` does.")
    command_scan = message("What `scan` does.")
    command_help = message("What `help` does.")
    option_open = message("What the option `open` does.")
    option_closed = message("What the option `closed` does.")
    option_all = message("What the option `all` does.")
    option_confidence = message("What the option `confidence=` does.")
    option_threshold = message("What the option `threshold=` does.")
    option_limit = message("What the option `limit=` does.")
    option_fresh = message("What the option `fresh` does.")


class MistakeTexts(MessageGroup):
    """Commands with mistakes, and commands that the person may not use."""

    misspelt = message("An unknown command; `suggestion` is the nearest command.", variables.word_suggestion)
    misspelt_far = message("An unknown command, and no command is similar.", variables.word)
    number_missing = message("The issue number is missing.", variables.syntax)
    number_unreadable = message("The argument is not an issue number.", variables.value_syntax)
    other_repository = message("The issue in the command is in another repository.", variables.value)
    words_missing = message("`search` without words.", variables.syntax)
    words_too_long = message("`search` with too much text.", variables.most)
    option_value = message(
        "The value of an option is unreadable or out of range; `most` is the highest `limit`.",
        variables.value_most_examples,
    )
    too_much = message("A command has too many arguments.", variables.value_syntax)
    too_many = message("A comment has more commands than the bot carries out.", variables.most)
    forbidden = message("The person who asked may not use this command.", variables.command_who)
    rate_limited = message("A person uses too many commands.", variables.most_wait)
    github_refused = message("GitHub refused; `detail` is GitHub's message without the full stop.", variables.detail)
    issue_gone = message("No issue here has that number (it may be a discussion).", variables.issue)
    not_an_issue = message("The number belongs to a pull request.", variables.issue)


class AnswerTexts(MessageGroup):
    """The answers to commands."""

    not_done = message("The command `not` is done: the bot has noted that the issues are different.", variables.issue)
    not_elsewhere = message("The command `not` is done for an issue of another repository.", variables.issue)
    not_shown_here = message("`not` names an issue of another repository that was not shown here.", variables.issue)
    not_already = message("`not` was already used for this issue.", variables.issue)
    of_done = message("`of` has closed the issue.", variables.issue)
    of_done_root = message(
        "`of` has closed the issue in favour of the original of the issue in the command.", variables.asked_issue
    )
    of_done_closed = message("`of` has closed the issue in favour of a closed issue.", variables.issue)
    of_already = message("`of` was already used for this issue.", variables.issue)
    itself = message("The command contains the issue's own number.")
    of_newer = message("`of` names a newer issue.", variables.issue)
    of_leads = message(
        "`of` names a duplicate of an issue that cannot be used; `says` is the answer about that issue.",
        variables.asked_issue_says,
    )
    of_circle = message("`of` names an issue that was closed in favour of this issue.", variables.issue)
    undo_not = message("`undo` has undone a `not`.", variables.issue)
    undo_not_holds = message("`undo` has undone a `not`, but somebody else also used `not`.", variables.issue)
    undo_of = message("`undo` has undone an `of`, and the issue is open again.", variables.issue)
    undo_of_closed = message("`undo` has undone an `of`; the issue stays closed, as it was before.", variables.issue)
    undo_nothing = message("The person has used no command that `undo` could undo.")
    muted = message("The command `mute` is done.")
    muted_already = message("`mute` was already used.")
    muted_recheck = message("The bot has updated the comment of a muted issue.")
    answered_above = message("The answer to a re-check is the comment, which is far above.", variables.link)
    unmuted = message("The command `unmute` is done.")
    unmuted_already = message("`unmute` was used, but the issue was not muted.")
    comment_deleted = message("A maintainer deleted the comment, so the bot does not post it again.")
    explain_heading = message("The first line of `explain`.", variables.issue_title)
    explain_not_found = message("No search found the issue.")
    explain_no_reason = message("The two issues share nothing characteristic.")
    explain_confidence = message("The probability that the two issues report the same problem.", variables.confidence)
    explain_no_confidence = message("There is no probability yet.")
    explain_found_by = message("The sources that found the issue.", variables.sources)
    explain_duplicate = message(
        "A duplicate of the issue that was also found, and the sources that found the duplicate.",
        variables.issue_confidence_sources,
    )
    explain_queries = message("The line above the queries that found the issue.")


class SettingsTexts(MessageGroup):
    """Problems in the settings file."""

    settings_problems = message("The heading over the problems, in the advisory comment.")
    settings_intro = message("The sentence above the problems, in a reply.", variables.source)
    settings_private = message("The number of problems, if the settings file is private.", variables.count)
    settings_line = message("One problem.", variables.line_column_message)
    settings_hint = message(
        "The value that was probably meant; the text follows the problem and begins with punctuation.", variables.hint
    )
    settings_more = message("The number of further problems that are not listed.", variables.count)
    wrong_value = message("A setting has a value that it does not accept.", variables.value_wanted)
    unknown_setting = message("The file has an unknown setting.", variables.name)
    closing_gone = message("The file has the setting of a former feature: the bot no longer closes issues by itself.")
    unknown_text = message("`templates` names an unknown text.", variables.name)
    unknown_variable = message("A template uses a variable that its text does not have.", variables.name_variable)
    template_malformed = message("A template has braces that do not enclose a variable.", variables.piece)
    template_forbidden = message("A template would mention people or link to an issue.", variables.piece)
    template_variables = message("A template has too many variables.", variables.most)
    list_too_long = message("A list has too many items.", variables.count_most)
    key_twice = message("The file has a key twice.", variables.line)
    no_yaml = message("The file is not YAML; `problem` is the parser's English message.", variables.problem)
    no_yaml_character = message("The file has a character that YAML does not allow.")
    several_documents = message("The file holds more than one YAML document.")
    no_mapping = message("The file is not a list of keys with values.")
    too_deep = message("The file is nested too deeply.")
    key_no_word = message("A key is not a single word.")
    anchors = message("The file uses anchors or aliases.")
    tags = message("The file uses tags.")
    file_too_long = message("The file has too many characters.", variables.most_written)
    file_too_large = message("The file is too large for GitHub to show.")
    a_mapping = message("The wrong value is a mapping.")
    a_list = message("The wrong value is a list.")
    no_value = message("The value is missing.")
    quoted = message("A part of the file, in quotation marks.", variables.value)
    either = message("A setting accepts one of several values; `first` is a list.", variables.first_last)
    never_reached = message(
        "A threshold is higher than any probability; `highest` is the highest useful threshold.",
        variables.value_highest,
    )
    wants_number = message("A setting accepts a number between two numbers.", variables.least_most)
    wants_whole = message("A setting accepts a whole number between two numbers.", variables.least_most)
    wants_text = message("A setting accepts a text of limited length.", variables.what_most)
    wants_list = message("A setting accepts a list of limited length.", variables.most_what)
    wants_mapping = message("A setting accepts a mapping with these keys.", variables.keys)
    wants_texts = message("A setting accepts a mapping of names to texts.")
    a_login = message("The login of a person or an App.")
    logins = message("Logins, in “a list of at most 100 …”.")
    a_label = message("A label.")
    labels = message("Labels, in “a list of at most 100 …”.")
    a_type = message("An issue type.")
    types = message("Issue types, in “a list of at most 100 …”.")
    associations = message("Relations of authors to a repository, in “a list of at most 100 …”.")
    a_glob = message("A glob.")
    globs = message("Globs, in “a list of at most 100 …”.")
    a_repository = message("A repository, in the form in which a setting names it.")
    repositories = message("Repositories, in “a list of at most 100 …”.")
    issue_numbers = message("Issue numbers, in “a list of at most 100 …”.")
    a_text = message("A text.")
