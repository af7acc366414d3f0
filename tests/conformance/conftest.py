"""What others publish comes from npm (`make conformance`); without it these tests are skipped, visibly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.openapi import Description, description

MODULES = Path(__file__).parents[2] / "node_modules"


@pytest.fixture(scope="session")
def published() -> Description:
    """GitHub's description of its REST API."""
    path = MODULES / "@octokit/openapi/generated/api.github.com.json"
    if not path.exists():
        pytest.skip("npm's @octokit/openapi is not installed: run `make conformance`")
    return description(path)


@pytest.fixture(scope="session")
def octokit() -> Path:
    """The folder from which node finds Octokit."""
    if not (MODULES / "octokit").exists():
        pytest.skip("npm's octokit is not installed: run `make conformance`")
    return MODULES.parent
