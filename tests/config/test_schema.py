"""C6: the JSON Schema for editors says the same as the parser."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.config import parse_config
from bot.config.describe import json_schema
from bot.config.keys import KEYS, SOURCES
from bot.words import LANGUAGES, SPACE

VALIDATOR = jsonschema.Draft202012Validator(json_schema())

# What can be written in a file, and is sometimes right. No newline in texts: Python's `$`, which the schema's patterns
# are read with here, would allow one at the end.
CHARACTERS = st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])
TEXTS = st.text(CHARACTERS, max_size=60)
SWITCHES = ["on", "off", "yes", "no", "Off", "OFF", "On", "NO", "oFF"]
WORDS = st.sampled_from([*SWITCHES, "comment", "7d", "100d", "acme/app", "add", "auto", *LANGUAGES])
NUMBERS = st.integers(-3, 120) | st.floats(allow_nan=False, allow_infinity=False) | st.floats(-0.5, 1.5) | st.integers()
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | WORDS
NAMES = st.sampled_from([key.name for key in KEYS]) | st.sampled_from(
    [*SOURCES, "words_max", "budget", "hybrid", "authors", "labels", "titles", "enabled", "limit", "weight", "modes"]
)
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | TEXTS, inner, max_size=4), max_leaves=12
)
LISTS = st.lists(LEAVES, max_size=3) | st.lists(TEXTS, max_size=3) | st.lists(WORDS, max_size=3)
SECTIONS = st.dictionaries(NAMES, LEAVES | LISTS | st.dictionaries(NAMES, LEAVES, max_size=3), max_size=4)
CONFIGS = st.dictionaries(NAMES, LEAVES | LISTS | SECTIONS | ANYTHING, max_size=5)


def both(config: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the schema and whether the parser finds nothing wrong; JSON is YAML, so both read the same text."""
    text = json.dumps(config, ensure_ascii=False)
    return VALIDATOR.is_valid(config), parse_config(text)[1] == ()


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.slow
@given(CONFIGS)
@settings(max_examples=400, deadline=None)
def test_c6_schema_and_parser_agree(config: dict[str, Any]) -> None:
    schema, parser = both(config)
    assert schema is parser, [str(problem) for problem in parse_config(json.dumps(config, ensure_ascii=False))[1]]


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema of ours, so that not only wrong ones are compared."""
    if "anyOf" in schema:
        return st.one_of([values(option) for option in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema["type"]
    if kind == "number":
        return st.floats(schema["minimum"], schema["maximum"]) | st.sampled_from([schema["minimum"], schema["maximum"]])
    if kind == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    if kind == "array":
        return st.lists(values(schema["items"]), max_size=4)
    if kind == "string":
        return st.from_regex(schema["pattern"], fullmatch=True, alphabet=CHARACTERS) if "pattern" in schema else TEXTS
    # Of the many texts the first ones, which have variables and have none, stand for all.
    some = list(schema["properties"].items())
    some = some if len(some) < 40 else some[:4]
    return st.fixed_dictionaries({}, optional={name: values(inner) for name, inner in some})


@pytest.mark.slow
@given(values(json_schema()))
@settings(max_examples=200, deadline=None)
def test_c6_what_the_schema_offers_is_taken(config: dict[str, Any]) -> None:
    schema, parser = both(config)
    assert schema is parser


# What a repository's own text may not hold, what comes near it, and letters that some rules take for others.
PIECES = [
    *"@#_-/ \t1aé日{}ſıİ",
    *("\u0085", "\ufeff", "\u001f"),
    *("{{", "}}", "<!--", "GH-1", "gh-", "duplicate", "duplıcate", "Of", "\u00a0of", "/Pull/2"),
    *("/issues/1", "/iſsues/1", "/discussions/", "{candidates}"),
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
@example("_GH-12_ is about this, too.")
@example("duplıcate of")
@example("é@ann, 日@ann")
@example("@é")
@settings(max_examples=400, deadline=None)
def test_c6_schema_and_parser_agree_on_texts_of_ones_own(text: str) -> None:
    schema, parser = both({"templates": {"found": text}})
    assert schema is parser, text


def test_c6_every_pattern_is_read_alike_by_javascript_whose_letters_and_digits_are_ascii() -> None:
    text = json.dumps(json_schema()).replace("\\\\", "\\")
    assert re.findall(r"\\[wWdDbB]", text) == []
    # What each takes for a space, both do only beside the signs that the other adds.
    assert re.findall(r"\\[sS]", text.replace(SPACE, "")) == []
    assert "[" + SPACE in text


def test_c6_every_setting_is_described_to_editors() -> None:
    properties = json_schema()["properties"]
    assert list(properties) == [key.name for key in KEYS]
    assert all(inner["description"] for inner in properties.values())
