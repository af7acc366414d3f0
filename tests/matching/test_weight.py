"""What names a thing exactly weighs more than a word that is as rare."""

from __future__ import annotations

import itertools

import sqlalchemy as sa

from bot.index import Index, TextAnalyser
from bot.matching import Matcher
from tests.matching.made import an_issue, fill

PLAIN = ("garden", "window", "silver", "mountain", "kettle", "basket")
#: What is shared exactly, and words that are as rare.
PAIRS = (
    ("E1042X", "marmalade"),
    ("TileNotFoundError", "unicycle"),
    ("panic: runtime error: lookahead exhausted", "juggling sandwich trombone"),
    ("src/upload/store.py:114", "parsley walnut"),
    ("v1.8.3", "glacier"),
    ("user_name_of", "lobster"),
    ("getUserName", "hammock"),
    ("at com.acme.Foo.readAll(Foo.java:42)", "pelican dungeon"),
)


def test_errors_names_from_code_paths_and_versions_weigh_more_than_words(engine: sa.Engine) -> None:
    """By the words alone: a model would tell even more."""
    others = [
        an_issue(20 + place, f"Trouble with the {words[0]}", f"We saw a {' '.join(words)} yesterday")
        for place, words in enumerate(itertools.islice(itertools.permutations(PLAIN, 4), 0, None, 6))
    ]
    told = [
        an_issue(200 + place, "Something fails on start", f"Here it stops.\n{said}\nappears in the end")
        for place, said in enumerate(itertools.chain.from_iterable(PAIRS))
    ]
    index = Index(engine, TextAnalyser())
    fill(index, *others, *told)
    for place, (exact, words) in enumerate(PAIRS):
        target = an_issue(300, "Trouble at noon", f"We saw\n{exact}\nand {words} yesterday")
        with Matcher(index).looking(1, target) as look:
            found = {match.number: match for match in look.judge()}
        assert found[200 + 2 * place].score > found[201 + 2 * place].score, exact
        assert found[200 + 2 * place].confidence >= found[201 + 2 * place].confidence, exact
