"""Who may see a repository's pages: those who may triage there, asked of GitHub as the App."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from bot.domain.entities import name_key
from bot.storage import StoredRepository

SECONDS = 60.0
"""How long an answer is believed: whoever loses the right loses the pages within a minute."""

_MOST = 10_000


class Access:
    """Remembers GitHub's answers for a minute. Safe to share between threads."""

    def __init__(self, may_triage: Callable[[StoredRepository, str], bool], clock: Callable[[], float]) -> None:
        """`may_triage` asks GitHub about a repository and a login."""
        self._ask = may_triage
        self._clock = clock
        self._known: OrderedDict[tuple[int, str], tuple[float, bool]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, repository: StoredRepository, login: str) -> bool:
        """Whether this person may triage there. Raises what GitHub's client raises; then nobody sees anything."""
        if repository.installation is None or repository.suspended:
            return False
        key, now = (repository.id, name_key(login)), self._clock()
        with self._lock:
            known = self._known.get(key)
        if known is not None and now - known[0] < SECONDS:
            return known[1]
        answer = self._ask(repository, login)
        with self._lock:
            self._known[key] = (now, answer)
            self._known.move_to_end(key)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return answer
