"""A GitHub of our own: state, REST and GraphQL over real HTTP, permissions, limits, webhooks, and faults on demand.

    with start_simulator() as server:
        server.sim.add_repository("acme/app")
        server.sim.install("acme/app")
        server.sim.open_issue("acme/app", "alice", "It crashes at start", "…")

A request goes one way: `server.py` → `http/` (faults, caller, limits) → its handler in `rest/` or `graphql/` → a
function in `operations/`, which changes the `World` of `state/` and emits an event → `webhooks.py`, which has it
delivered. What is shown of a record, in answers and deliveries alike, is made in `payloads/`.

Every answer and every webhook is held against githubkit's models. What the simulator does not know it refuses with
status 501 and remembers in `sim.unknown_requests`.
"""

from __future__ import annotations

from bot.simulator.clock import Clock
from bot.simulator.server import Server, serve, start_simulator
from bot.simulator.simulator import Simulator

__all__ = ["Clock", "Server", "Simulator", "serve", "start_simulator"]
