"""The texts about a settings file that has problems."""

from __future__ import annotations

from bot.words.texts import Texts, text


class SettingsTexts(Texts):
    """What is wrong with the settings file."""

    @text
    def settings_problems(self) -> None:
        """The heading over the problems, in the comment."""

    @text
    def settings_intro(self, source: str) -> None:
        """The sentence over the problems, in a reply."""

    @text
    def settings_private(self, count: int) -> None:
        """That there are problems, where the file itself is private."""

    @text
    def settings_line(self, line: int, column: int, message: str) -> None:
        """One problem."""

    @text
    def settings_hint(self, hint: str) -> None:
        """What was probably meant; it follows the problem and begins with its own punctuation."""

    @text
    def settings_more(self, count: int) -> None:
        """That many more problems are not listed."""

    @text
    def wrong_value(self, value: str, wanted: str) -> None:
        """A setting has a value that it does not accept."""

    @text
    def unknown_setting(self, name: str) -> None:
        """There is no such setting."""

    @text
    def closing_gone(self) -> None:
        """The setting by which the bot closed issues by itself, which it no longer does."""

    @text
    def unknown_text(self, name: str) -> None:
        """`templates` names a text that does not exist."""

    @text
    def unknown_variable(self, name: str, variable: str) -> None:
        """A template uses a variable that its text does not have."""

    @text
    def template_malformed(self, piece: str) -> None:
        """A template has braces that are not a variable."""

    @text
    def template_forbidden(self, piece: str) -> None:
        """A template would mention people or link to an issue."""

    @text
    def template_variables(self, most: int) -> None:
        """A template has too many variables."""

    @text
    def list_too_long(self, count: int, most: int) -> None:
        """A list is longer than is read."""

    @text
    def key_twice(self, line: int) -> None:
        """A key is given twice."""

    @text
    def no_yaml(self, problem: str) -> None:
        """The file is not YAML; `problem` is the parser's own English."""

    @text
    def no_yaml_character(self) -> None:
        """A character that YAML does not allow."""

    @text
    def several_documents(self) -> None:
        """The file holds more than one YAML document."""

    @text
    def no_mapping(self) -> None:
        """The file is not a list of keys with values."""

    @text
    def too_deep(self) -> None:
        """Something is nested too deeply."""

    @text
    def key_no_word(self) -> None:
        """A key is more than one word."""

    @text
    def anchors(self) -> None:
        """The file uses anchors or aliases."""

    @text
    def tags(self) -> None:
        """The file uses tags."""

    @text
    def file_too_long(self, most: str) -> None:
        """The file has too many characters."""

    @text
    def file_too_large(self) -> None:
        """The file is so large that GitHub does not show it."""

    @text
    def a_mapping(self) -> None:
        """What was given: a mapping."""

    @text
    def a_list(self) -> None:
        """What was given: a list."""

    @text
    def no_value(self) -> None:
        """What was given: nothing."""

    @text
    def quoted(self, value: str) -> None:
        """A text of the file, in quotation marks."""

    @text
    def either(self, first: str, last: str) -> None:
        """What a setting accepts: one of several values; `first` is a list."""

    @text
    def never_reached(self, value: str, highest: str) -> None:
        """A threshold is so high that nothing is ever said to be so likely; `highest` is the highest that helps."""

    @text
    def wants_number(self, least: str, most: str) -> None:
        """A number between two."""

    @text
    def wants_whole(self, least: str, most: str) -> None:
        """A whole number between two."""

    @text
    def wants_text(self, what: str, most: int) -> None:
        """A text that is not too long."""

    @text
    def wants_list(self, most: int, what: str) -> None:
        """A list that is not too long."""

    @text
    def wants_mapping(self, keys: str) -> None:
        """A mapping with these keys."""

    @text
    def wants_texts(self) -> None:
        """A mapping of names to texts."""

    @text
    def a_login(self) -> None:
        """A person's or App's login."""

    @text
    def logins(self) -> None:
        """Logins, in “a list of at most 100 …”."""

    @text
    def a_label(self) -> None:
        """A label."""

    @text
    def labels(self) -> None:
        """Labels, likewise."""

    @text
    def a_glob(self) -> None:
        """A glob."""

    @text
    def globs(self) -> None:
        """Globs, likewise."""

    @text
    def a_repository(self) -> None:
        """A repository as it has to be written."""

    @text
    def repositories(self) -> None:
        """Repositories, likewise."""

    @text
    def issue_numbers(self) -> None:
        """Numbers of issues, likewise."""

    @text
    def a_text(self) -> None:
        """A text."""
