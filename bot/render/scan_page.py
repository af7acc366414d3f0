"""The backlog scan as one HTML page that needs nothing else: no script, no font, no picture from anywhere (D8)."""

from __future__ import annotations

from html import escape as quoted

from bot.render.candidates import REASONS_MAX, confidence_words
from bot.render.details import sentence
from bot.render.escape import clean
from bot.render.scan import TITLE, age, facts, heading
from bot.scanning.model import Entry, Group, Member, Result

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


def scan_page(result: Result, name: str, home: str, checked: str) -> str:
    """The whole page. `name` says what was looked through; `home` is the address of the repository's page, empty where
    there is none, and `checked` the time as it shall be read.
    """
    title = _text(f"{TITLE}: {name}")
    summary = _text(heading(result).replace("**", ""))
    groups = "\n".join(_group(group, home) for group in result.groups)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{summary}</p>\n"
        f'{groups}\n<p class="dim">{_text(checked)}</p>\n</body>\n</html>\n'
    )


def _group(group: Group, home: str) -> str:
    original = group.original
    members = "\n".join(_member(member, home) for member in group.members)
    return (
        f"<section>\n<h2>{_link(original, home)} {_text(original.title)}</h2>\n"
        f'<p class="dim">{_text(sentence(age(original)))} · {_text(facts(group))}</p>\n'
        f"<ul>\n{members}\n</ul>\n</section>"
    )


def _member(member: Member, home: str) -> str:
    said = f"{sentence(confidence_words(member.confidence))} · {age(member.entry)}"
    reasons = "".join(f'<p class="dim">{_text(reason)}</p>' for reason in member.reasons[:REASONS_MAX])
    entry = member.entry
    return f'<li>{_link(entry, home)} {_text(entry.title)}<p class="dim">{_text(said)}</p>{reasons}</li>'


def _link(entry: Entry, home: str) -> str:
    number = f"#{entry.number}"
    if not home:
        return number
    return f'<a href="{quoted(home)}/issues/{entry.number}" rel="noreferrer">{number}</a>'


def _text(text: str) -> str:
    """Strangers' text as text: on one line, without invisible characters, and without markup."""
    return quoted(clean(text))
