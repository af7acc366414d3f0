"""The dependency audit says what it found, and never that all is well where nobody could be asked."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

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


def package(name: str, *flaws: tuple[str, list[str]]) -> dict[str, Any]:
    vulns = [{"id": id_, "fix_versions": versions, "aliases": [], "description": ""} for id_, versions in flaws]
    return {"name": name, "version": "1.0", "vulns": vulns}


UNKNOWN = {"name": "flask", "skip_reason": "Dependency not found on PyPI"}
OURS = {"name": "doppel", "skip_reason": "Dependency not found on PyPI"}


def test_advisories_are_named_with_the_version_that_mends_them(audit: ModuleType) -> None:
    report = {"dependencies": [package("flask", ("CVE-1", ["2.0"]), ("CVE-2", [])), package("httpx"), OURS]}
    assert audit.told(report) == (
        [
            "flask 1.0: CVE-1, mended in 2.0",
            "flask 1.0: CVE-2, mended in no version yet",
            "dependency audit: 2 advisories for 2 packages",
        ],
        2,
    )


def test_what_could_not_be_asked_about_is_said(audit: ModuleType) -> None:
    lines, found = audit.told({"dependencies": [package("httpx"), UNKNOWN, OURS]})
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


def test_where_it_cannot_be_done_it_is_said_and_fails_nothing(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> str:
        raise OSError

    monkeypatch.setattr(audit, "run", fail)
    monkeypatch.setattr(audit.venv, "create", lambda *_, **__: None)
    assert audit.main(True) == 0
    assert "left out" in capsys.readouterr().out


def test_ci_does_it() -> None:
    assert "\n.ci/audit\n" in (CI / "run").read_text(encoding="utf-8")
