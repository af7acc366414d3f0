"""What is left of an issue's text once the form around it is taken away."""

from __future__ import annotations

import pytest

from bot.text.terms import own_text

FORM = """\
<!-- Thanks! Please search first. -->
### What happened?

The export  stops
at 40 %.

**Steps**:
![picture](https://github.com/user-attachments/assets/1)

- [x] I have searched
- [ ] It is urgent

---
### Logs

```shell
ERROR export: disk full
```
### Anything else?

_No response_
"""


def test_the_form_is_left_out_and_the_rest_is_one_line() -> None:
    assert own_text(FORM) == "The export stops at 40 %. ERROR export: disk full"


def test_lines_that_are_known_to_be_supplied_are_left_out_however_they_are_written() -> None:
    assert own_text("Version:  LATEST\nIt crashes.", {"version: latest"}) == "It crashes."


@pytest.mark.parametrize(
    "text", ["# apt install doppel", "- a list", "**Bold** at the beginning", "See https://example.org", "-1 from me"]
)
def test_what_only_looks_like_a_form_stays(text: str) -> None:
    assert own_text(text) == text


@pytest.mark.parametrize("sign", ["*", "[", "![", "<img ", "#", "- [", "<!--"])
def test_hostile_text_takes_no_time_worth_telling(sign: str) -> None:
    # Each step is linear in what is read, and that is bounded.
    assert len(own_text(sign * 1_000_000)) <= 6_000
