"""Records failed deliveries for `handlers.scheduled.redelivery`, until a redelivery succeeds or GitHub forgets them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from bot.domain.formats import batches
from bot.storage.engine import TableGateway, write
from bot.storage.schema import marks, missed

_DELIVERIES = "deliveries"
# Far below the limit of parameters in a statement.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A failed delivery. `delivery_id` is its last attempt, `failed_at` the time of the first (seconds since 1970).

    `status_code` is 0 if nobody answered. `asked` counts our requests for another attempt, the last at `asked_at`.
    """

    guid: str
    delivery_id: int
    failed_at: float
    status_code: int
    asked: int = 0
    asked_at: float = 0.0


class FailedDeliveries(TableGateway):
    """The `missed` table, and how far GitHub's list has been read."""

    def read_until(self) -> float | None:
        """The time of the last attempt that was read; None before the first reading."""
        return self._scalar(sa.select(marks.c.at).where(marks.c.name == _DELIVERIES))

    def note(
        self,
        failed: Sequence[FailedDelivery],
        lost: Collection[str],
        taken: Collection[str],
        *,
        read_until: float | None,
        oldest: float,
    ) -> None:
        """Record failed deliveries; forget the `taken` ones and those that failed before `oldest`. One transaction.

        Deliveries in `lost` have failed for the first time. All others are redeliveries, which only update a row: if
        there is none, the bot has given the delivery up, and would otherwise ask for it without end.
        """
        insert = self._insert(missed)
        last = {"delivery_id": insert.excluded.delivery_id, "status_code": insert.excluded.status_code}
        insert = insert.on_conflict_do_update(index_elements=["guid"], set_=last)
        new = [asdict(delivery) for delivery in failed if delivery.guid in lost]
        redeliveries = [delivery for delivery in failed if delivery.guid not in lost]
        again = [
            {"key": delivery.guid, "attempt": delivery.delivery_id, "code": delivery.status_code}
            for delivery in redeliveries
        ]
        update = sa.update(missed).where(missed.c.guid == sa.bindparam("key"))
        update = update.values(delivery_id=sa.bindparam("attempt"), status_code=sa.bindparam("code"))
        with write(self._engine) as connection:
            if new:
                connection.execute(insert, new)
            if again:
                connection.execute(update, again)
            for guids in batches(sorted(taken), _BATCH):
                connection.execute(sa.delete(missed).where(missed.c.guid.in_(guids)))
            connection.execute(sa.delete(missed).where(missed.c.failed_at < oldest))
            if read_until is not None:
                connection.execute(self._upsert(marks, {"name": _DELIVERIES}, {"at": read_until}))

    def all(self) -> list[FailedDelivery]:
        return [FailedDelivery(*row) for row in self._all(sa.select(missed))]

    def asked(self, guid: str, now: float) -> None:
        """Record that we asked GitHub for another attempt."""
        self._change(sa.update(missed).where(missed.c.guid == guid).values(asked=missed.c.asked + 1, asked_at=now))

    def remove(self, guid: str) -> None:
        """Forget a delivery that GitHub no longer has."""
        self._change(sa.delete(missed).where(missed.c.guid == guid))
