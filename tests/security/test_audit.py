"""The dependency audit says what it found, and never that all is well where nobody could be asked."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

CI = Path(__file__).parents[2] / ".ci"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    loader = SourceFileLoader("audit", str(CI / "audit"))
    spec = importlib.util.spec_from_loader("audit", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


CLEAN = {"name": "httpx", "version": "1.0", "vulns": []}
UNKNOWN = {"name": "flask", "skip_reason": "Dependency not found on PyPI"}
OURS = {"name": "doppel", "skip_reason": "Dependency not found on PyPI"}


def test_what_could_not_be_asked_about_is_said(audit: ModuleType) -> None:
    lines, found = audit.told({"dependencies": [CLEAN, UNKNOWN, OURS]})
    assert (lines, found) == (["dependency audit: 0 advisories for 1 packages; 1 could not be asked about"], 0)
    lines, found = audit.told({"dependencies": [UNKNOWN, OURS]})
    assert (lines, found) == (
        ["dependency audit: left out, the index that packages come from tells no advisories"],
        0,
    )


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_an_advisory_fails_only_who_asks_for_it(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, strict: bool, code: int
) -> None:
    (tmp_path / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    monkeypatch.setattr(audit, "ROOT", tmp_path)
    report = '{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": []}]}]}'
    monkeypatch.setattr(audit, "run", lambda *_: report)
    monkeypatch.setattr(audit.venv, "create", lambda *_, **__: None)
    assert audit.main(strict) == code


def test_ci_does_it() -> None:
    assert "\n.ci/audit\n" in (CI / "run").read_text(encoding="utf-8")
