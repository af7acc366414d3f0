"""Ports for processes of ours that have to be told one."""

from __future__ import annotations

from pathlib import Path

from bot.platform.local import free_port


def test_a_port_is_none_that_the_system_gives_to_whoever_asks_for_any() -> None:
    """Between the drawing and the process's own listening it could be given to any other."""
    first, _ = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert max(free_port() for _ in range(100)) < min(first, 32_768)
