"""`make fuzz`: a counted number of cases for every parser, other ones each time.

    .venv/bin/python -m tests.fuzz [--cases 100000] [PARSER…]

Prints how many cases each parser was given and how long that took; the smallest case that breaks one is printed, and
the exit code is then 1.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from tests.fuzz.parsers import PARSERS, Parser


@dataclass
class Result:
    """`seconds` are of the processor's time; `failure` is what was found, empty if nothing."""

    cases: int
    seconds: float
    failure: str = ""


def run(parser: Parser, cases: int) -> Result:
    """Draw so many cases, and stop at the first that breaks it."""
    result, began = Result(0, 0.0), time.process_time()

    def check(case: Any) -> None:
        result.cases += 1
        parser.check(case)

    draw = settings(
        max_examples=cases,
        derandomize=False,
        database=None,
        deadline=None,
        verbosity=Verbosity.normal,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        given(parser.cases)(draw(check))()
    except BaseException as found:
        if isinstance(found, KeyboardInterrupt):
            raise
        result.failure = "".join(traceback.format_exception(found)) + "\n".join(getattr(found, "__notes__", ()))
    result.seconds = time.process_time() - began
    return result


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", type=int, default=100_000, help="in all, shared equally [default: 100000]")
    options.add_argument("parsers", nargs="*", help="only these")
    arguments = options.parse_args()
    chosen = [one for one in PARSERS if not arguments.parsers or one.name in arguments.parsers]
    total, failures = 0, []
    logging.disable()
    print(f"{'parser':<12}{'cases':>9}{'seconds':>9}")
    for parser in chosen:
        result = run(parser, max(1, arguments.cases // len(chosen)))
        total += result.cases
        print(
            f"{parser.name:<12}{result.cases:>9}{result.seconds:>9.1f}  {'BROKEN' if result.failure else ''}".rstrip()
        )
        sys.stdout.flush()
        if result.failure:
            failures.append(f"{parser.name}:\n{result.failure}")
    print(f"{'together':<12}{total:>9}")
    print("\n".join(failures), end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
