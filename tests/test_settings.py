"""E1: the environment becomes settings, and what is wrong is named with the way to mend it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot import settings
from bot.errors import SettingsError
from bot.github import keys


def load(tmp_path: Path, **environ: str) -> settings.Settings:
    return settings.load(environ, tmp_path / ".env")


def test_e1_defaults(tmp_path: Path) -> None:
    found = load(tmp_path, DOPPEL_HOME=str(tmp_path))
    assert found.database_url == f"sqlite:///{tmp_path / 'doppel.db'}"
    assert (found.port, found.github_api_url, found.enterprise) == (3000, "https://api.github.com", False)


def test_e1_a_real_variable_wins_over_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=4000\nLOG_LEVEL=debug\n")
    found = load(tmp_path, PORT="5000")
    assert (found.port, found.log_level) == (5000, "DEBUG")


@pytest.mark.parametrize("url", ["postgres://u:p@h/d", "postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d"])
def test_e1_the_forms_of_a_postgres_address(tmp_path: Path, url: str) -> None:
    assert load(tmp_path, DATABASE_URL=url).database_url == "postgresql+psycopg://u:p@h/d"


def test_e1_two_secrets_during_rotation(tmp_path: Path) -> None:
    found = load(tmp_path, WEBHOOK_SECRET="new", WEBHOOK_SECRET_PREVIOUS="old")
    assert found.webhook_secrets == ("new", "old")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "65536"),
        ("APP_ID", "my-app"),
        ("LOG_LEVEL", "LOUD"),
        ("DATABASE_URL", "mysql://x"),
        ("GITHUB_API_URL", "ghe.example.org"),
        ("DOPPEL_PAUSED", "maybe"),
        ("DOPPEL_DEBOUNCE", "-1"),
        ("DOPPEL_SQLITE_SYNC", "off"),
        ("PRIVATE_KEY_PATH", "/nonexistent/key.pem"),
    ],
)
def test_e1_a_wrong_value_names_its_variable(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load(tmp_path, **{name: value})


def test_e1_what_the_app_needs_is_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, WEBHOOK_SECRET: not set"):
        load(tmp_path).require_app()


def test_secrets_never_show(tmp_path: Path) -> None:
    secret = {"WEBHOOK_SECRET": "hush1", "GITHUB_TOKEN": "hush2", "DATABASE_URL": "postgresql://u:hush3@h/d"}
    assert "hush" not in repr(load(tmp_path, **secret))


def test_e1_every_variable_that_is_read_is_documented() -> None:
    sources = Path(settings.__file__).read_text() + Path(keys.__file__).read_text()
    read = set(re.findall(r'values(?:\.get\(|, |\[)"([A-Z_]+)"', sources))
    documented = {variable.name for variable in settings.VARIABLES}
    assert len(read) > 15
    assert read <= documented


@pytest.mark.parametrize(
    ("address", "enterprise"),
    [
        ("https://api.github.com", False),
        ("https://github.acme.example/api/v3", True),
        ("https://api.acme.ghe.com", True),
        ("http://127.0.0.1:4000", False),
    ],
)
def test_e1_an_enterprise_is_known_by_its_address(tmp_path: Path, address: str, enterprise: bool) -> None:
    assert load(tmp_path, GITHUB_API_URL=address).enterprise is enterprise
