"""How long a find takes, without waiting for searches: planning, merging, reading, weighing, judging, giving reasons.

    .venv/bin/python bench/finder.py [--issues 5000] [--finds 100] [--data ISSUES.jsonl.gz]

The searches are answered by the simulator's engine in this process; their time is taken off. Made-up issues by default:
words whose frequencies follow Zipf's law, about 8 in a title and 120 in a body. The baseline is the title scorer alone
(F5, F6) on the same hits. Processor time is measured, since others may share the machine.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.domain.entities import Issue
from bot.github.search import SearchPage
from bot.quality.replay.archive import PastIssue, read_archive
from bot.quality.replay.replay import ReplayGitHub
from bot.search.finder import Finder, FinderSettings, FindOptions
from bot.search.ranking.similarity import score_candidates

SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
START = datetime(2024, 1, 1, tzinfo=UTC)
ASKED = FindOptions(threshold=0.0, max_candidates=5, state="all", earlier_only=True)


class Timed(ReplayGitHub):
    """Notes how long the searches took, and what they found."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.found: dict[int, Issue] = {}

    def search(self, query: str, *, hybrid: bool = False) -> SearchPage:
        started = time.process_time()
        page = super().search(query, hybrid=hybrid)
        self.seconds += time.process_time() - started
        self.found.update({issue.number: issue for issue in page.items})
        return page


def made_up(count: int, rng: random.Random) -> Iterator[PastIssue]:
    """Issues of words of two to four syllables, common ones short."""

    def words(many: int) -> str:
        return " ".join(_word(int(20 * 5_000 ** rng.random())) for _ in range(many))

    for n in range(count):
        body = words(max(5, int(rng.lognormvariate(4.6, 0.6))))
        yield PastIssue(n, words(8), body, START + timedelta(hours=n), None, f"user{n % 500}", ())


def _word(rank: int) -> str:
    letters = []
    while rank:
        rank, digit = divmod(rank, len(SYLLABLES))
        letters.append(SYLLABLES[digit])
    return "".join(letters)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issues", type=int, default=5_000)
    parser.add_argument("--finds", type=int, default=100)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    past = read_archive(options.data) if options.data else list(made_up(options.issues, random.Random(1)))
    asked = set(random.Random(2).sample(range(len(past) // 2, len(past)), min(options.finds, len(past) // 2)))
    github = Timed()
    finder = Finder(github, settings=FinderSettings(hybrid=False))
    own, baseline, compared = [], [], []
    for position, one in enumerate(past):
        issue = github.arrive(one)
        if position in asked:
            github.seconds, github.found = 0.0, {}
            started = time.process_time()
            finder.find(issue, ASKED)
            own.append(time.process_time() - started - github.seconds)
            started = time.process_time()
            score_candidates(issue.title, github.found.values(), 0.3, 5, target_number=issue.number)
            baseline.append(time.process_time() - started)
            compared.append(len(github.found))
        finder.notice(issue)
    own_ms, base_ms = (sorted(1_000 * seconds for seconds in each) for each in (own, baseline))
    print(f"{len(own)} finds among {len(past)} issues, {statistics.mean(compared):.0f} different hits each")
    for name, each in (("find, without the searches", own_ms), ("baseline: titles alone", base_ms)):
        print(f"{name:28} p50 {statistics.median(each):6.1f} ms   p95 {each[int(0.95 * len(each))]:6.1f} ms")
    print(f"{'ratio of the medians':28} {statistics.median(own_ms) / statistics.median(base_ms):6.1f}")


if __name__ == "__main__":
    main()
