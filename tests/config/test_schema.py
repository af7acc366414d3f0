"""C6: the JSON Schema for editors says the same as the parser."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import SOURCES, RepoConfig
from bot.conversation.messages.catalogue import LANGUAGES, declared
from docs.repository_settings import json_schema

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# What can be written in a file, and is sometimes right. No newline in texts: Python's `$`, which the schema's patterns
# are read with here, would allow one at the end.
CHARACTERS = st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])
TEXTS = st.text(CHARACTERS, max_size=60)
SWITCHES = ["on", "off", "yes", "no", "Off", "OFF", "On", "NO", "oFF"]
WORDS = st.sampled_from([*SWITCHES, "comment", "7d", "100d", "acme/app", "add", "auto", *LANGUAGES])
NUMBERS = st.integers(-3, 120) | st.floats(allow_nan=False, allow_infinity=False) | st.floats(-0.5, 1.5) | st.integers()
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | WORDS
# Of the texts under `templates` the parser alone says whether their variables are right.
NAMES = st.sampled_from([name for name in RepoConfig.model_fields if name != "templates"]) | st.sampled_from(
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
    if "$ref" in schema:
        return values(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
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
    inside = {name: values(inner) for name, inner in schema["properties"].items() if name != "templates"}
    return st.fixed_dictionaries({}, optional=inside)


@pytest.mark.slow
@given(values(json_schema()))
@settings(max_examples=200, deadline=None)
def test_c6_what_the_schema_offers_is_taken(config: dict[str, Any]) -> None:
    schema, parser = both(config)
    assert schema is parser


def test_c6_editors_are_offered_each_text_by_its_name() -> None:
    texts = json_schema()["properties"]["templates"]
    assert texts["additionalProperties"] is False
    assert texts["properties"].keys() == declared().keys()


def test_c6_every_setting_is_described_to_editors() -> None:
    properties = json_schema()["properties"]
    assert list(properties) == list(RepoConfig.model_fields)
    assert all(inner["description"] for inner in properties.values())
