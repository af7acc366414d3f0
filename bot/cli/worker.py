"""`doppel worker`: one process that handles what is in the queue."""

from __future__ import annotations

import click

from bot import settings as host
from bot.machine.loading import loading
from bot.telemetry.logs import configure_logging


@click.command()
def worker() -> None:
    """Run a worker process until SIGTERM. Any number may run on one PostgreSQL database."""
    # These take a second to import, which `doppel --help` need not pay.
    with loading():
        from bot.jobs import process
        from bot.monitoring.tally import Tally
        from bot.telemetry.tracing import configure_tracing
        from bot.wiring.clients import prepare_databases
        from bot.wiring.worker import build_services, chores, enter_model, job_handler, says_of_model

    settings = host.load()
    configure_logging(settings.log_level, settings.log_format)
    configure_tracing(settings, "worker")
    # Here alone a worker waits for others, where SIGTERM still ends it at once.
    prepare_databases(settings)
    services = build_services(settings)
    tally = Tally(settings, says_of_model(settings))
    # Others must have heard that somebody has this model, before it is entered as the latest that was chosen.
    tally.flush()
    tally.start()
    enter_model(settings, services.store)
    services.indexing.take_up()
    try:
        process.run(settings, job_handler(services), chores(services))
    finally:
        tally.stop()
