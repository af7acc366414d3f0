"""What all processes have spent of the budgets that GitHub counts by installation (`bot/github/limits/pacing.py`)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence

import sqlalchemy as sa

from bot.github.limits.windows import Window
from bot.store.database.engine import write
from bot.store.database.failures import why
from bot.store.parts.base import Part
from bot.store.tables.schema import spent

log = logging.getLogger(__name__)


class Budgets(Part):
    """The `spent` table: one row for each payment, for as long as it counts."""

    def __init__(
        self,
        engine: sa.Engine,
        limits: Mapping[str, Sequence[tuple[int, float]]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`limits` are units and seconds by budget; others are not counted here. `clock` gives seconds since 1970."""
        super().__init__(engine)
        self._limits = limits
        self._clock = clock

    def take(self, account: str, amounts: Mapping[str, int]) -> float:
        """Pay for one request and return 0, or pay nothing and return the seconds after which to ask again.

        Never raises: while the database is away nothing is counted here, and each process keeps to the limits alone.
        """
        wanted = {name: units for name, units in amounts.items() if name in self._limits}
        if not wanted:
            return 0.0
        try:
            with write(self._engine) as connection:
                # Without this lock two processes at once could both take the last unit; SQLite has one writer anyway.
                if connection.dialect.name == "postgresql":
                    lock = sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"budgets/{account}"))
                    connection.execute(sa.select(lock))
                now = self._clock()
                delay = max(self._delay(connection, account, name, units, now) for name, units in wanted.items())
                if not delay:
                    rows = [{"account": account, "budget": name, "at": now, "units": n} for name, n in wanted.items()]
                    connection.execute(sa.insert(spent), rows)
                return delay
        except sa.exc.SQLAlchemyError as problem:
            log.warning("budgets are not shared for now: %s", why(problem))
            return 0.0

    def rest(self, account: str, budgets: Sequence[str], seconds: float) -> None:
        """Let nobody pay of these budgets for so long, as if all of each had just been spent. Never raises."""
        rows = []
        for name in budgets:
            units, window = max(self._limits[name])
            # What is dated further ahead is taken for the work of a wrong clock.
            at = self._clock() + min(seconds - window, window)
            rows.append({"account": account, "budget": name, "at": at, "units": units})
        try:
            with write(self._engine) as connection:
                connection.execute(sa.insert(spent), rows)
        except sa.exc.SQLAlchemyError as problem:
            log.warning("budgets are not shared for now: %s", why(problem))

    def prune(self) -> int:
        """Drop payments that count no longer, of accounts that pay no more; how many."""
        longest = max(seconds for limits in self._limits.values() for _, seconds in limits)
        return self._change(sa.delete(spent).where(spent.c.at <= self._clock() - longest))

    def _delay(self, connection: sa.Connection, account: str, name: str, units: int, now: float) -> float:
        """Seconds until so many units fit. What no longer counts goes, and so does what a wrong clock dated ahead."""
        longest = max(seconds for _, seconds in self._limits[name])
        mine = sa.and_(spent.c.account == account, spent.c.budget == name)
        gone = sa.or_(spent.c.at <= now - longest, spent.c.at > now + longest)
        connection.execute(sa.delete(spent).where(mine, gone))
        payments = connection.execute(sa.select(spent.c.at, spent.c.units).where(mine).order_by(spent.c.at)).all()
        delays = []
        for limit in self._limits[name]:
            window = Window(*limit)
            for payment in payments:
                # A budget with an hour's limit keeps what a clock of half an hour ahead dated; to that of a minute it
                # would mean half an hour without a comment.
                if payment.at <= now + window.seconds:
                    window.spend(payment.at, payment.units)
            delays.append(window.delay(now, units))
        return max(delays)
