"""Numbers from 0 to 1 as options, which NaN is none of."""

from __future__ import annotations

import math
from typing import Any

import click


class Share(click.FloatRange):
    """A float range; click's own lets NaN pass, which no comparison refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if isinstance(number, float) and math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number
