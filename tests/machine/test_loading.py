from __future__ import annotations

import gc

import pytest

from bot.machine.loading import loading


def test_what_is_loaded_is_never_looked_through_and_what_comes_after_is() -> None:
    before = gc.get_freeze_count()
    try:
        with loading():
            assert not gc.isenabled()
            loaded: list[list[object]] = [[]]
        assert gc.isenabled()
        assert gc.get_freeze_count() > before
        later: list[list[object]] = [[]]
        looked_through = list(map(id, gc.get_objects()))
        assert id(loaded) not in looked_through
        assert id(later) in looked_through
    finally:
        gc.unfreeze()


def test_a_module_that_cannot_be_loaded_leaves_the_process_as_it_was() -> None:
    with pytest.raises(ModuleNotFoundError), loading():
        __import__("no_such_module")
    assert gc.isenabled()
    gc.unfreeze()
