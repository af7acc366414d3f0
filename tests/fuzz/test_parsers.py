"""A small share of `make fuzz`: the same few cases of every parser each time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.__main__ import run
from tests.fuzz.parsers import PARSERS, Parser


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.name)
def test_no_input_breaks_a_parser(parser: Parser) -> None:
    given(parser.cases)(settings(max_examples=100, suppress_health_check=list(HealthCheck))(parser.check))()


@pytest.mark.slow
def test_the_fuzzer_counts_its_cases_and_tells_what_it_finds() -> None:
    def check(case: str) -> None:
        assert "x" not in case

    assert run(Parser("good", PARSERS[2].cases, lambda case: None), 50) == (50, "")
    _, failure = run(Parser("bad", PARSERS[2].cases, check), 5_000)
    assert "assert" in failure
    assert "'x'" in failure
