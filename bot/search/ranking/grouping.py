"""Merges search results that are the same thing (H3), and groups issues that are duplicates of one another.

An issue or a pull request is identified only by `owner/repo#number`: two issues with the same title are two issues.
Anything else, such as a discussion, is identified by its address, its text or its title.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from rapidfuzz import fuzz

from bot.domain.entities import Issue
from bot.text.github_urls import normalize_url, thing_at

ALIKE = 0.95  # Titles at least this similar make documents without `identity` the same.
TITLE_MAX = 1_000
"""How many characters of a title are compared. GitHub allows 256."""

# Normalising sorts a letter's combining marks in quadratic time, and a stranger can write any number of marks. So a
# joiner is inserted after every 30 marks, as in the "Stream-Safe Text Format" of Unicode's annex 15. The pattern also
# matches symbols, which a joiner does not harm, and U+FF9E and U+FF9F, which normalising turns into marks.
_MANY_MARKS = re.compile(r"(?:[^\w\s\0-\x7f]|[\uff9e\uff9f]){30}")
_JOINER = "\u034f"


@dataclass(frozen=True, slots=True)
class Document:
    """A search result. `identity` is `owner/repo#number` for an issue or pull request, else empty.

    `snippets` are the parts of the text that the searches returned. `sources` names the searches that found the
    document, `also_at` has its further addresses.
    """

    identity: str
    url: str
    title: str
    snippets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    also_at: tuple[str, ...] = ()


def content_hash(body: str) -> str:
    """SHA-256 of a text, as hexadecimal digits; white space, case and Unicode forms do not matter."""
    return hashlib.sha256(_folded(body).encode("utf-8", "replace")).hexdigest()


def title_similarity(one: str, other: str) -> float:
    """How similar two titles are, in [0, 1], by Rapidfuzz's `ratio`; symmetric. White space and case do not matter.

    Only the first `TITLE_MAX` characters are compared, because the comparison takes quadratic time.
    """
    left, right = sorted((_folded(one[:TITLE_MAX]), _folded(other[:TITLE_MAX])))
    return fuzz.ratio(left, right) / 100


def collapse(documents: Iterable[Document], alike: float = ALIKE) -> list[Document]:
    """Merge documents that are the same thing: the first stays, and gets the snippets, sources and addresses of all.

    With an `identity`, only the same one or its address counts. Without one, an equal address or
    text or titles with at least the similarity `alike` suffice. Empty texts and titles do not count.
    """
    unique: list[Document] = []
    by_key: dict[str, int] = {}
    for document in documents:
        keys = list(_keys(document))
        index = next((by_key[key] for key in keys if key in by_key), None)
        if index is None and not document.identity:
            index = _same_title(document, unique, alike)
        if index is None:
            index = len(unique)
            unique.append(document)
        else:
            unique[index] = _merged(unique[index], document)
        for key in keys:
            by_key.setdefault(key, index)
    return unique


def _keys(document: Document) -> Iterator[str]:
    """The document's keys. Two documents with a common key are the same thing."""
    if document.identity:
        # GitHub ignores case in names.
        yield f"number {document.identity.lower()}"
        return
    if thing := thing_at(document.url):
        # A "thread" is an issue, pull request or discussion. In a repository, each thread has its own number.
        yield f"number {thing.repo}#{thing.what}" if thing.kind == "thread" else f"thing {thing}"
    elif document.url:
        yield f"url {normalize_url(document.url)}"
    text = "\n".join(document.snippets)
    if text.strip():
        yield f"text {content_hash(text)}"


def _same_title(document: Document, unique: Sequence[Document], alike: float) -> int | None:
    if not document.title.strip():
        return None
    for index, other in enumerate(unique):
        if not other.identity and title_similarity(document.title, other.title) >= alike:
            return index
    return None


def _merged(first: Document, other: Document) -> Document:
    addresses = dict.fromkeys((*first.also_at, other.url, *other.also_at))
    return replace(
        first,
        also_at=tuple(url for url in addresses if url not in ("", first.url)),
        snippets=tuple(dict.fromkeys((*first.snippets, *other.snippets))),
        sources=tuple(dict.fromkeys((*first.sources, *other.sources))),
    )


def _folded(text: str) -> str:
    marked = _MANY_MARKS.sub(rf"\g<0>{_JOINER}", text)
    return " ".join(unicodedata.normalize("NFKC", marked).casefold().split())


T = TypeVar("T", bound=Hashable)


def components(members: Iterable[T], ties: Iterable[tuple[T, T]]) -> dict[T, T]:
    """Map each member, and each end of a tie, to the representative of its connected component, by union-find."""
    parent: dict[T, T] = {}

    def root(member: T) -> T:
        parent.setdefault(member, member)
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    for member in members:
        root(member)
    for one, other in ties:
        parent[root(one)] = root(other)
    return {member: root(member) for member in parent}


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """The numbers of issues that report one thing: the group's `lead`, and the `others`, oldest first.

    `found` has the search's candidates in the group, best first.
    """

    lead: int
    others: tuple[int, ...]
    found: tuple[int, ...]


def resolve(
    ranked: Sequence[int], originals: Mapping[int, int], known: Mapping[int, Issue], may_lead: Collection[int]
) -> list[DuplicateGroup]:
    """Group candidates. The groups are sorted by their best candidates' places in `ranked`.

    `ranked` are candidates, best first. Groups are the connected components of `originals`, which maps duplicates to
    their originals. Only issues in `known` are members, and only those in `may_lead` can lead; a group without a lead
    is left out. The oldest open member leads. If none is open, the oldest member that was closed as completed leads,
    since its problem may have come back. If no member is open or completed, the oldest leads.
    """
    group_of = components(ranked, originals.items())
    members: defaultdict[int, set[int]] = defaultdict(set)
    for number, group in group_of.items():
        if number in known:
            members[group].add(number)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number in ranked:
        found[group_of[number]].append(number)
    groups = []
    for group, candidates in found.items():
        possible_leads = members[group] & set(may_lead)
        if possible_leads:
            lead = min(possible_leads, key=lambda number: (_lead_rank(known[number]), number))
            groups.append(DuplicateGroup(lead, tuple(sorted(members[group] - {lead})), tuple(candidates)))
    return groups


def _lead_rank(issue: Issue) -> int:
    if issue.state == "open":
        return 0
    return 1 if issue.state_reason == "completed" else 2
