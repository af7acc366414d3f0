"""The hook that checks a commit's message."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HOOK = Path(__file__).parent.parent / ".githooks/commit-msg"


@pytest.mark.parametrize(
    ("message", "refused_for"),
    [
        ("jobs: renew leases in one statement\n\nIt took one each.\n# a comment", None),
        ("github, store: embed `null` bodies", None),
        ("Merge branch 'queue'", None),
        ("jobs: renewed leases", "no imperative"),
        ("jobs: renewing leases", "no imperative"),
        ("Renew leases", "an area and a colon"),
        ("jobs: renew leases.", "a full stop"),
        (f"jobs: renew {'leases ' * 10}", "characters"),
        ("jobs: renew leases\nIt took one each.", "an empty line"),
        ("", "an area and a colon"),
    ],
)
def test_a_message_is_refused_with_the_reason(tmp_path: Path, message: str, refused_for: str | None) -> None:
    (tmp_path / "message").write_text(message)
    run = subprocess.run([HOOK, tmp_path / "message"], capture_output=True, text=True, check=False)
    assert run.returncode == int(refused_for is not None)
    assert (refused_for or "") in run.stderr
