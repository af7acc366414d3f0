"""What a worker that starts takes up at once, because its settings may have mended what was in the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding import EmbeddingError
from bot.search.indexer import index_statuses
from bot.storage.schema import metadata
from tests.index.conftest import HashingModel
from tests.indexing.conftest import REPO, Host, on_one_database


class Refusing(HashingModel):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingError("the endpoint refuses the key")


def says(host: Host) -> tuple[str, int | None, str]:
    services = host.services
    (status,) = index_statuses(services.store.repositories.list(), services.store.backfills, services.index)
    return status.state, status.vectors, status.problem


def start(host: Host, model: HashingModel | None) -> None:
    """A worker with this model takes the place of the one before."""
    host.use(model)
    host.services.indexing.resume()
    host.work()


@on_one_database
def test_with_another_model_or_none_nothing_more_is_said_of_the_one_before(host: Host, model: HashingModel) -> None:
    host.load(3)
    host.use(Refusing("refusing"))
    host.install()
    host.sim.open_issue(REPO, "ann", "The quokka is upside down")
    host.work()
    assert (len(host.indexed()), says(host)) == (4, ("embedding", 0, "vectors: the endpoint refuses the key"))
    start(host, None)
    assert says(host) == ("ready", None, "")
    start(host, Refusing("refusing"))
    assert says(host)[2] == "vectors: the endpoint refuses the key"
    start(host, model)
    assert says(host) == ("ready", 4, "")


@on_one_database
def test_a_repository_of_which_no_index_was_copied_is_read(host: Host) -> None:
    """As after `doppel migrate-store`."""
    host.load(3)
    host.install()
    with host.services.store.engine.begin() as connection:
        for table in metadata.sorted_tables:
            if table.info.get("index") or table.name == "backfills":
                connection.execute(sa.delete(table))
    assert says(host)[0] != "ready"
    start(host, None)
    assert says(host) == ("ready", None, "")


@on_one_database
def test_the_issues_are_embedded_anew_from_the_start_on(host: Host, model: HashingModel) -> None:
    host.load(3)
    host.use(model)
    host.install()
    start(host, HashingModel("other", dimensions=96))
    assert says(host) == ("ready", 3, "")


@on_one_database
def test_where_nothing_is_in_the_way_a_start_asks_nothing(host: Host, model: HashingModel) -> None:
    host.load(3)
    host.use(model)
    host.install()
    asked = len(host.pages)
    start(host, model)
    assert len(host.pages) == asked
