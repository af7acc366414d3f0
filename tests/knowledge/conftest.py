from __future__ import annotations

import pytest

from tests.knowledge.playbooks import VARIABLE


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
