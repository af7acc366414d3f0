"""The backlog scan as one HTML page that needs nothing else: no script, no font, no picture from anywhere (D8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape as quoted

from bot.render.candidates import confidence_words
from bot.render.details import sentence
from bot.render.escape import clean
from bot.render.reasons import REASONS_MAX
from bot.render.scan import age, facts, heading
from bot.scanning.model import Entry, Group, Member, Result
from bot.words import english

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0; --paper: #fff; --link: #0969da; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #f0f6fc; --dim: #9198a1; --line: #3d444d; --paper: #0d1117; --link: #4493f8; }
}
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 50rem; padding: 0 1rem; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-bottom: 0; }
a { color: var(--link); } .dim { color: var(--dim); margin: 0; } ul { padding-left: 1.2rem; } li { margin: .5rem 0; }
"""


@dataclass(frozen=True, slots=True)
class _Named:
    home: str
    names: Mapping[int, str]

    def link(self, entry: Entry) -> str:
        """An issue's number as a link, or its name where it has none."""
        if not self.home:
            return _text(self.names.get(entry.number, f"#{entry.number}"))
        return f'<a href="{quoted(self.home)}/issues/{entry.number}" rel="noreferrer">#{entry.number}</a>'


def scan_page(result: Result, name: str, checked: str, home: str, names: Mapping[int, str] | None) -> str:
    """The whole page. `name` says what was looked through, `checked` when; `home` is the address of the repository's
    page. Issues of a file have `names` instead.
    """
    place = _Named(home, names or {})
    title = _text(f"{english().scan_title()}: {name}")
    summary = _text(heading(result, english()).replace("**", ""))
    groups = "\n".join(_group(group, place) for group in result.groups)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{summary}</p>\n"
        f'{groups}\n<p class="dim">{_text(checked)}</p>\n</body>\n</html>\n'
    )


def _group(group: Group, place: _Named) -> str:
    original = group.original
    members = "\n".join(_member(member, place) for member in group.members)
    return (
        f"<section>\n<h2>{place.link(original)} {_text(original.title)}</h2>\n"
        f'<p class="dim">{_text(sentence(age(original, english())))} · {_text(facts(group, english()))}</p>\n'
        f"<ul>\n{members}\n</ul>\n</section>"
    )


def _member(member: Member, place: _Named) -> str:
    said = f"{sentence(confidence_words(member.confidence, english()))} · {age(member.entry, english())}"
    reasons = "".join(f'<p class="dim">{_text(str(reason))}</p>' for reason in member.reasons[:REASONS_MAX])
    entry = member.entry
    return f'<li>{place.link(entry)} {_text(entry.title)}<p class="dim">{_text(said)}</p>{reasons}</li>'


def _text(text: str) -> str:
    """Strangers' text as text: on one line, without invisible characters, and without markup."""
    return quoted(clean(text))
