"""An http(s) address as an option: a mistyped one is told before anything is begun."""

from __future__ import annotations

from typing import Any

import click

from bot.addresses import is_web


class WebAddress(click.ParamType[str]):
    """Taken as it is written."""

    name = "URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not is_web(str(value)):
            self.fail(f"{value} is not an http(s) address, such as http://127.0.0.1:8000/webhook.", param, ctx)
        return str(value)
