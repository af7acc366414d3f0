"""The real client against the simulator, as in tests/github."""

from __future__ import annotations

from tests.github.conftest import client, connect, github, server, sim, simulated_time

__all__ = ["client", "connect", "github", "server", "sim", "simulated_time"]
