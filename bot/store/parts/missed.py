"""Deliveries that GitHub could not hand over, until they are taken or GitHub has forgotten them itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from bot.batches import batches
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.schema import marks, missed

_DELIVERIES = "deliveries"
# Far below what a statement may have in parameters.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Missed:
    """`delivery_id` is its last attempt, `failed_at` the time of the first (seconds since 1970), `status_code` 0 where
    there was no answer. `asked` counts our requests for another attempt, the last of them at `asked_at`.
    """

    guid: str
    delivery_id: int
    failed_at: float
    status_code: int
    asked: int = 0
    asked_at: float = 0.0


class MissedDeliveries(Part):
    """The `missed` table, and how far GitHub's list has been read."""

    def read_until(self) -> float | None:
        """The time of the last attempt that was read; None before the first look."""
        return self._scalar(sa.select(marks.c.at).where(marks.c.name == _DELIVERIES))

    def note(
        self,
        failed: Sequence[Missed],
        lost: Collection[str],
        taken: Collection[str],
        *,
        read_until: float | None,
        oldest: float,
    ) -> None:
        """Keep what has failed, and forget what was taken or failed before `oldest`, all in one transaction.

        Of what is known already the last attempt is noted. What is not among the `lost`, whose first attempt has just
        failed, is a repetition, and where it is unknown it is not kept: it was given up, and would be asked for without
        end.
        """
        insert = self._insert(missed)
        insert = insert.on_conflict_do_update(
            index_elements=["guid"],
            set_={"delivery_id": insert.excluded.delivery_id, "status_code": insert.excluded.status_code},
        )
        new = [asdict(one) for one in failed if one.guid in lost]
        again = [
            {"key": one.guid, "attempt": one.delivery_id, "code": one.status_code}
            for one in failed
            if one.guid not in lost
        ]
        update = sa.update(missed).where(missed.c.guid == sa.bindparam("key"))
        with write(self._engine) as connection:
            if new:
                connection.execute(insert, new)
            if again:
                connection.execute(
                    update.values(delivery_id=sa.bindparam("attempt"), status_code=sa.bindparam("code")), again
                )
            for guids in batches(sorted(taken), _BATCH):
                connection.execute(sa.delete(missed).where(missed.c.guid.in_(guids)))
            connection.execute(sa.delete(missed).where(missed.c.failed_at < oldest))
            if read_until is not None:
                connection.execute(self._upsert(marks, {"name": _DELIVERIES}, {"at": read_until}))

    def all(self) -> list[Missed]:
        """All of them."""
        return [Missed(*row) for row in self._all(sa.select(missed))]

    def asked(self, guid: str, now: float) -> None:
        """Note that GitHub was asked for another attempt."""
        self._change(sa.update(missed).where(missed.c.guid == guid).values(asked=missed.c.asked + 1, asked_at=now))

    def remove(self, guid: str) -> None:
        """Forget one that GitHub no longer has."""
        self._change(sa.delete(missed).where(missed.c.guid == guid))
