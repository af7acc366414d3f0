"""A GitHub of our own: state, REST and GraphQL over real HTTP, permissions, limits, webhooks, and faults on demand.

    with start_simulator() as server:
        server.sim.add_repository("acme/app")
        server.sim.install("acme/app")
        server.sim.open_issue("acme/app", "alice", "It crashes at start", "…")

A request goes one way: `server.py` → `http/` (faults, caller, limits) → its handler in `rest/` or `graphql/` → a
function in `operations/`, which changes the `World` of `state/` and emits an event → `webhooks.py`, which delivers the
event. `payloads/` turns records into JSON, for answers and deliveries alike.

The simulator checks webhooks and most successful REST answers with githubkit's models. It refuses unknown requests (in
REST with status 501), and lists them in `sim.unknown_requests`.
"""

from __future__ import annotations

from bot.simulator.clock import Clock
from bot.simulator.server import Server, serve, start_simulator
from bot.simulator.simulator import Simulator

__all__ = ["Clock", "Server", "Simulator", "serve", "start_simulator"]
