"""How a command ends that somebody ends, seen with `doppel demo`: signals, whatever comes of them on the way."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from bot.app.cli import main
from tests.waiting import wait_until


def ended(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], *options: str) -> int:
    """The exit code of a demo in which this happens."""
    monkeypatch.setattr("bot.app.cli.demo.perform", lambda *_, **__: act())
    with pytest.raises(SystemExit) as end:
        main(["demo", *options])
    return int(end.value.code or 0)


@pytest.mark.parametrize(("options", "code"), [([], 128 + signal.SIGTERM), (["--serve"], 0)])
def test_a_signal_ends_a_command_with_its_code(options: list[str], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert ended(monkeypatch, lambda: signal.raise_signal(signal.SIGTERM), *options) == code
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_second_signal_does_not_break_off_what_the_first_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a terminal is closed after Ctrl-C."""
    put_away = []

    def shows() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.raise_signal(number)
            put_away.append("everything")

    # The tests themselves may have been begun with `nohup`.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        assert ended(monkeypatch, shows) == 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGHUP, before)
    assert put_away == ["everything"]


def test_a_signal_while_an_object_is_finalized_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python ignores what a finalizer raises; the demo then went on for ever, deaf to every later signal."""

    class Closed:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def closes() -> None:
        Closed()
        wait_until(lambda: False)

    assert ended(monkeypatch, closes) == 128 + signal.SIGTERM


def test_nohup_keeps_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """`nohup doppel demo --serve &` ended with the terminal all the same."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        assert ended(monkeypatch, lambda: signal.raise_signal(signal.SIGHUP)) == 128 + signal.SIGHUP
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert ended(monkeypatch, lambda: signal.raise_signal(signal.SIGHUP)) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
