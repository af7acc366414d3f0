"""Settings are shown as the file would have them."""

from __future__ import annotations

from bot.conversation.config.parser import parse_config
from bot.interfaces.dashboard.views import setting_rows

FILE = """
mode: shadow
label: add
only_labels: [bug, crash]
sources:
  full-text: {weight: 2}
"""


def test_what_the_file_says_and_what_holds_without_it() -> None:
    rows = {row.path: (row.value, row.usual) for row in setting_rows(parse_config(FILE)[0])}
    assert rows["mode"] == ("shadow", False)
    assert rows["only_labels"] == ("bug, crash", False)
    assert rows["sources.full-text.weight"] == ("2.0", False)
    assert rows["sources.full-text.limit"] == ("all", True)
    usual = {row.path: row.value for row in setting_rows(parse_config("")[0]) if row.usual}
    assert usual["min_confidence"] == "0.24, or where feedback has put it"
    assert usual["known_issues"] == "none"
    assert usual["sources"] == "the usual ones"
    assert usual["calibrate"] == "on"
