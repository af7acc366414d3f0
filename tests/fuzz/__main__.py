"""`make fuzz`: a counted number of cases for every parser, other ones each time.

    .venv/bin/python -m tests.fuzz [--cases 100000] [PARSER…]

Prints how many cases each parser was given and how long that took; the smallest case that breaks one is printed, and
the exit code is then 1.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from typing import Any

import click
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.parsers import PARSERS, Parser


def run(parser: Parser, cases: int) -> tuple[int, str]:
    """Draw so many cases, up to the first that breaks it; returned are how many there were, and what was found."""
    drawn = 0

    def check(case: Any) -> None:
        nonlocal drawn
        drawn += 1
        parser.check(case)

    draw = settings(
        max_examples=cases,
        derandomize=False,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        given(parser.cases)(draw(check))()
    except Exception as found:
        return drawn, "".join(traceback.format_exception(found)) + "\n".join(getattr(found, "__notes__", ()))
    return drawn, ""


@click.command()
@click.option("--cases", default=100_000, show_default=True, help="In all, shared equally.")
@click.argument("parsers", nargs=-1, type=click.Choice([one.name for one in PARSERS]))
def main(cases: int, parsers: tuple[str, ...]) -> None:
    """Give hostile inputs to every parser, or to these alone."""
    chosen = [one for one in PARSERS if not parsers or one.name in parsers]
    failures = []
    logging.disable()
    for parser in chosen:
        began = time.process_time()
        drawn, failure = run(parser, max(1, cases // len(chosen)))
        print(f"{parser.name:<12}{drawn:>9} cases{time.process_time() - began:>9.1f} s", flush=True)
        if failure:
            failures.append(f"{parser.name}:\n{failure}")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
