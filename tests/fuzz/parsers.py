"""The parsers that strangers reach, what they are fed, and what must hold whatever that is.

`tests/fuzz/test_parsers.py` draws a few hundred cases of each in the suite; `make fuzz` draws many more.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from hypothesis import strategies as st

from bot.conversation.commands.parser import parse as parse_commands
from bot.conversation.commands.table import Command, InvalidCommand, MisspeltCommand
from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import RepoConfig
from bot.conversation.marker import ADVICE, DIGEST, SCAN, fingerprint, is_reply_to
from bot.conversation.render.escape import code, escape
from bot.deliveries import proxy
from bot.deliveries.events import Ignored, from_json, to_json
from bot.deliveries.webhook import Accepted, Ping, Refused, read, sign
from bot.domain.entities import RepoRef
from bot.search.issue_forms import boilerplate_of
from bot.search.ranking.plan import natural_query, plan_own_words, plan_queries
from bot.search.ranking.query import MAX_OPERATORS
from bot.search.ranking.relevance import WordRarity
from bot.text.github_urls import named_issues, normalize_url, thing_at
from tests.render.reading import read as render

REPO = RepoRef("acme", "app")
_GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
SECRET = "a secret of the fuzzer"
LONGEST_QUERY = 256


@dataclass(frozen=True)
class Parser:
    """`cases` are the inputs; `check` fails if anything but what is documented comes of one."""

    name: str
    cases: st.SearchStrategy[Any]
    check: Callable[[Any], None]


def pieces(*parts: str, most: int = 30) -> st.SearchStrategy[str]:
    """Texts made of telling parts, mixed with any characters, and now and then anything at all."""
    part = st.sampled_from(parts) | st.text(max_size=6)
    return st.lists(part, max_size=most).map("".join) | st.text(max_size=120)


# Payloads: valid ones of which something is changed, any JSON, and any bytes.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
_USER = {"login": "ann", "id": 7, "type": "User"}
_REPOSITORY = {"id": 7, "full_name": "acme/app", "private": True, "archived": False, "default_branch": "main"}
_COMMON: dict[str, Any] = {"repository": _REPOSITORY, "sender": _USER, "installation": {"id": 5}}
_ISSUE = {"number": 3, "user": _USER, "locked": False, "state_reason": None, "title": "a", "body": "b"}
_COMMENT = {"id": 11, "body": "/duplicates", "user": _USER}
_CHANGES = {"title": {"from": "a"}, "body": {"from": "/duplicates not #1"}, "owner": {"from": {"user": _USER}}}
EVENTS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "issues": (("opened", "edited", "closed", "labeled", "transferred"), {"issue": _ISSUE, "label": {"name": "bug"}}),
    "issue_comment": (("created", "edited", "deleted"), {"issue": _ISSUE, "comment": _COMMENT}),
    "installation": (("created", "deleted", "suspend"), {"repositories": [_REPOSITORY]}),
    "installation_repositories": (
        ("added", "removed"),
        {"repositories_added": [_REPOSITORY], "repositories_removed": [_REPOSITORY]},
    ),
    "repository": (("renamed", "privatized", "transferred", "deleted"), {}),
    "push": (("",), {"ref": "refs/heads/main", "commits": [{"modified": [".github/doppel.yml"], "added": []}]}),
    "ping": (("",), {"zen": "Keep it simple."}),
    "star": (("created",), {}),
}


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[str, bytes, str]:
    """An event's name, a body, and its content type."""
    name = draw(st.sampled_from(list(EVENTS)))
    kind = draw(st.sampled_from(["application/json"] * 4 + ["application/x-www-form-urlencoded", "text/plain"]))
    if draw(st.integers(0, 9)) == 0:
        return name, draw(st.binary(max_size=200) | JSON.map(lambda data: json.dumps(data).encode())), kind
    actions, more = EVENTS[name]
    action = draw(st.sampled_from(actions) | st.text(max_size=5))
    payload = copy.deepcopy({"action": action, "changes": _CHANGES, **more, **_COMMON})
    for _ in range(draw(st.integers(0, 3))):
        place: Any = payload
        while True:
            # Somewhere on the way down, or at the end of it.
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            below = place[key]
            if not isinstance(below, dict | list) or not below or draw(st.booleans()):
                break
            place = below
        place[key] = draw(JSON)
        if draw(st.booleans()):
            del place[key]
        if not payload:
            break
    text = json.dumps(payload)
    body = urlencode({"payload": text}) if kind.endswith("urlencoded") else text
    return name, body.encode(), kind


def check_delivery(case: tuple[str, bytes, str]) -> None:
    name, body, kind = case
    headers = {"X-GitHub-Event": name, "X-GitHub-Delivery": _GUID, "Content-Type": kind}
    assert isinstance(read(headers, body, [SECRET]), Refused)
    signed = {**headers, "X-Hub-Signature-256": sign(SECRET, body)}
    match read(signed, body, ["", SECRET]):
        case Refused(status, reason):
            assert status in (400, 415)
            assert 0 < len(reason) <= 300
        case Accepted(delivery_id, _, content):
            assert delivery_id == _GUID
            if isinstance(content, Ignored | Ping):
                return
            assert from_json(to_json(content)) == content
            assert content.partition


# What a channel sends in GitHub's place.

MESSAGES = st.builds(
    json.dumps,
    st.fixed_dictionaries(
        {},
        optional={
            "x-github-event": st.sampled_from(["issues", "ping"]) | JSON,
            "x-github-delivery": st.text(max_size=40) | JSON,
            "x-hub-signature-256": st.just(sign(SECRET, b'{"a":1}')) | st.text(max_size=20),
            "content-type": st.text(max_size=20),
            "body": st.just({"a": 1}) | JSON,
            "rawdata": st.text(max_size=20) | JSON,
            "bodyB": st.sampled_from(["eyJhIjoxfQ==", "?", ""]) | JSON,
            "x-github-a\r\nb": st.just("c"),
        },
    ),
)
STREAMS = st.lists(
    (MESSAGES.map(lambda text: f"data: {text}\n\n".encode())) | st.binary(max_size=40)
    | st.sampled_from([b"\n", b"\r\n", b"\r", b"event: ping\n", b"data:", b":\n", b"id: 1\n"]),
    max_size=8,
)  # fmt: skip


def check_stream(chunks: list[bytes]) -> None:
    for data in proxy.messages(chunks):
        delivery = proxy.read(data, [SECRET])
        if delivery is not None:
            assert all("\n" not in value and "\r" not in value for value in delivery.headers.values())


# Comments with commands.

COMMANDS = pieces(
    "/duplicates", "/duplicates ", "/dupe", "search ", "not ", "of ", "explain ", "#12", "acme/app#3", "limit=",
    "fresh", '"', "“", "\n", "\n\n", " ", "    ", "\t", "`", "```", "~~~", ">", "> ", "- ", "1. ", "# ", "---", "\\",
    "[", "](", "<!--", "-->", "<div>", "</div>", "<", "&amp;", "\r\n", "\r", "\0", "\u2028", "\ud800", "\u202e", "|",
    "／ｄｕｐｌｉｃａｔｅｓ ", "＃１２", "*", "_", "é",
)  # fmt: skip


def check_commands(body: str) -> None:
    found = parse_commands(body, REPO)
    assert len(found) <= 6
    for parsed in found:
        assert isinstance(parsed, Command | InvalidCommand | MisspeltCommand)
        assert parsed.line.lower().startswith("/du")
        if isinstance(parsed, Command):
            assert parsed.number is None or 1 <= parsed.number < 2**31
            assert len(" ".join(parsed.words)) <= 200


# Settings files, and the issue forms beside them.

SETTINGS = pieces(
    "mode: ", "comment", "shadow", "min_confidence: ", "0.5", "1e999", ".nan", "max_candidates: ", "3", "search: {",
    "budget: ", "sources:\n  ", "github-search: ", "on", "off", "ignore:\n  titles: [", "known_issues: [", "#1",
    "siblings: ", "language: ", "templates:\n  ", "{", "}", "[", "]", ",", ":", ": ", "\n", "\n  ", "\n- ", "- ", "'",
    '"', "&a ", "*a", "!!python/object/apply:os.system ", "!!set ", "!x ", "<<: *a", "|", ">-", "? ", "%YAML 1.1\n",
    "---\n", "...\n", "#", "0x10", "1_000", "2001-01-01", "~", "null", "\t", "\0", "\ufeff", "\u2028", "\ud800", "🎉",
    '"\\UFFFFFFFF"', '"\\ud800"',
)  # fmt: skip


def check_settings(text: str) -> None:
    config, problems = parse_config(text)
    assert isinstance(config, RepoConfig)
    lines = text.count("\n") + text.count("\r") + text.count("\u2028") + text.count("\x85") + text.count("\u2029") + 2
    for problem in problems:
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
        assert problem.message.isprintable()
    assert config.min_confidence is None or 0 <= config.min_confidence <= 1
    assert config.max_candidates >= 1


FORMS = pieces(
    "name: ", "body:\n", "- type: ", "textarea", "markdown", "\n  attributes:\n", "    label: ", "    value: |\n",
    "What", "'", '"', "## ", "# ", "---\n", "<!-- ", " -->", "\n", "  ", "- [ ] ", "\r\n", "\t", "\0",
    '"\\UFFFFFFFF"', '"\\ud800"',
)  # fmt: skip


def check_forms(text: str) -> None:
    for name in ("bug.yml", "bug.md", "config.yml", "other"):
        for line in [*(found := boilerplate_of(name, text)).headings, *found.lines]:
            assert isinstance(line, str)
            assert len(line) <= len(text) or line.startswith("_")


# What an issue says, on its way into a query and into a comment.

STRANGE = (
    "repo:evil/x ", "is:pr", "author:", "AND", "OR ", "NOT ", "-label:bug", '"', "“", "(", ")", "in:title", "*", "`",
    "```", "\n", "\r\n", " ", "Error: no such file", "TypeError", "panic: ", "log.Fatal", "snake_case", "日本語",
    "кириллица", "\u202e", "\0", "\ud800", "/", "\\", "a.b.c", "x-", "--x", "@ann", "#12", "GH-1", "Duplicate of #1",
    "<!-- doppel:advice v1", "-->", "<b>", "</details>", "[x](http://y)", "![", "](", "$x$", ":tada:", "deadbeefcafe",
    "www.a.b", "1. ", "|", "~~", "@org/team", "a/b#12", "https://github.com/a/b/issues/12", "a@b.cd", "mailto:a@b",
    "duplicate", "of", "$", "<img/src=x>", "<!--", "&lt;", "&#64;", "&", "<", ">", "[x]", "[^1]", "<http://a.b>", ")",
    ":+1:", "[x]: y", "~", "**", "_", "__", "#", "##", "-", "+", "=", "---", "2)", "\u2066", "\u200b", "\u200d",
    "\u3164", "\u034f", "\ufe01", "\U000e0141", "\x07", "\u2028", "\u0301" * 5, "_a_", "é", "\t", "a",
)  # fmt: skip
TEXTS = pieces(*STRANGE)


def check_query(text: str) -> None:
    title, _, body = text.partition("\n")
    rarity = WordRarity(100, {"error": 60})
    plans = [plan_queries(REPO, title, body, rarity), plan_own_words(REPO, text)]
    queries = [query for plan in plans for query in (*plan.queries, *plan.fallback)]
    for query in filter(None, [*queries, natural_query(REPO, title)]):
        start, _, rest = query.partition(" is:issue")
        assert start == "repo:acme/app"
        asked = rest
        for scope in (" in:title,body", " in:title", " in:body"):
            if rest.startswith(f"{scope} "):
                asked = rest[len(scope) :]
                break
        assert len(asked.strip()) <= LONGEST_QUERY
        assert asked.count('"') % 2 == 0
        outside = "".join(asked.split('"')[::2])
        assert not set(asked) & set(":<>*\\\n\r\t\0{}[]")
        words = outside.replace("(", " ").replace(")", " ").split()
        assert sum(word in ("AND", "OR", "NOT") for word in words) <= MAX_OPERATORS
        assert not any(word.startswith("-") for word in words)
        depth = 0
        for sign_ in outside:
            depth += (sign_ == "(") - (sign_ == ")")
            assert depth >= 0
        assert depth == 0


def check_markdown(text: str) -> None:
    page = render(f"- {escape(text)}\n- {code(text)}")
    assert page.active == {}
    assert (page.links, page.images) == ([], 0)
    assert set(page.html) <= {"<span>", "</span>"}
    assert "<!--" not in escape(text)


def check_marker(text: str) -> None:
    body = f"{ADVICE.start}{text}"
    assert ADVICE.begins(body)
    assert len(fingerprint(body)) in (0, 16)
    # What is shown of a text is never a marker, wherever it stands.
    for shown in (escape(text), code(text)):
        assert not ADVICE.begins(shown)
        assert not is_reply_to(shown, 1)
        assert not SCAN.begins(shown)
        assert not DIGEST.begins(shown)


ADDRESSES = pieces(
    "https://", "http://", "github.com", "redirect.github.com", "www.", "raw.githubusercontent.com", "api.github.com",
    "/repos", "/acme/app", "/issues/", "/pull/", "12", "/blob/main/a.py", "/tree/", "#issuecomment-3", "?q=1", ":443",
    ":x", "@", "[::1]", "[", "//", "%2f", "\\", " ", "\n", "acme/app#3", "#3", "`", "```\n", "٣",
)  # fmt: skip


def check_address(text: str) -> None:
    once = normalize_url(text)
    assert normalize_url(once) == once
    thing = thing_at(text)
    assert thing is None or hash(thing)
    for named in named_issues(text, REPO):
        place, _, number = named.rpartition("#")
        RepoRef.parse(place)
        assert number.isdecimal()


PARSERS = (
    Parser("payload", deliveries(), check_delivery),
    Parser("channel", STREAMS, check_stream),
    Parser("command", COMMANDS, check_commands),
    Parser("settings", SETTINGS, check_settings),
    Parser("form", FORMS, check_forms),
    Parser("query", TEXTS, check_query),
    Parser("Markdown", TEXTS, check_markdown),
    Parser("marker", TEXTS, check_marker),
    Parser("address", ADDRESSES, check_address),
)
