"""E1: the environment becomes settings, and what is wrong is named with the way to mend it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
import sqlalchemy as sa

from bot.domain.errors import SettingsError
from bot.interfaces.agents.deduplication import VARIABLE as DEDUPLICATION_THRESHOLD
from bot.platform import settings
from bot.simulator.keys import shared_pair


def load(tmp_path: Path, **environ: str) -> settings.Settings:
    return settings.load(environ, tmp_path / ".env")


def test_e1_in_the_env_file_too_the_users_folder_can_be_written_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shell reads that file, and a folder of the name `~` in the working directory is what nobody means."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".env").write_text("DOPPEL_HOME=~/doppel\n")
    found = load(tmp_path)
    assert (found.home, found.database_url) == (tmp_path / "doppel", f"sqlite:///{tmp_path / 'doppel' / 'doppel.db'}")


def test_e1_what_is_blank_is_not_set_and_white_space_around_a_place_is_no_part_of_it(tmp_path: Path) -> None:
    """As for all other settings: hosts' forms keep what is pasted into them."""
    found = load(tmp_path, DATABASE_URL=" ", DOPPEL_HOME=f" {tmp_path}\n")
    assert found.database_url == f"sqlite:///{tmp_path / 'doppel.db'}"
    assert load(tmp_path, DATABASE_URL=" postgres://h/d\n").database_url == "postgresql+psycopg://h/d"


def test_e1_a_real_variable_wins_over_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=4000\nLOG_LEVEL=debug\n")
    found = load(tmp_path, PORT="5000")
    assert (found.port, found.log_level) == (5000, "DEBUG")


def test_e1_a_real_path_of_the_key_wins_over_a_key_in_the_env_file(tmp_path: Path) -> None:
    """The two names are one setting, and a real variable wins whichever of them it has."""
    key = shared_pair().private
    (tmp_path / "app.pem").write_text(key)
    (tmp_path / ".env").write_text("PRIVATE_KEY=another\n")
    assert load(tmp_path, PRIVATE_KEY_PATH=str(tmp_path / "app.pem")).private_key == key
    (tmp_path / ".env").write_text("PRIVATE_KEY_PATH=/nowhere\n")
    assert load(tmp_path, PRIVATE_KEY=key).private_key == key


def test_e1_an_env_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("DOPPEL_WORKFLOW_FIELD=Zustände\n".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"\.env: this is not UTF-8"):
        load(tmp_path)


@pytest.mark.parametrize("url", ["postgres://u:p@h/d", "postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d"])
def test_e1_the_forms_of_a_postgres_address(tmp_path: Path, url: str) -> None:
    assert load(tmp_path, DATABASE_URL=url).database_url == "postgresql+psycopg://u:p@h/d"


@pytest.mark.parametrize(
    "place",
    ["h:notaport/d", "h1:1,h2:2/d", "dden@h/d", "dden@h:5432/d", "dd/en@h/d", "dd:en@h/d", "dden@h/d?sslmode=x"],
)
def test_e1_an_address_that_cannot_be_read_as_it_was_meant_is_refused_without_showing_it(
    tmp_path: Path, place: str
) -> None:
    """An @ in the password ends it, and the rest was shown as the host's name; a wrong port was a fault of ours."""
    with pytest.raises(SettingsError, match="write @ in the user or password as %40") as refused:
        load(tmp_path, DATABASE_URL=f"postgresql://ann:hush@{place}")
    assert str(refused.value).startswith("DATABASE_URL: this ")
    assert not any(part in str(refused.value) for part in ("hush", "dd", "en@", "h1"))


@pytest.mark.parametrize("password", ["p%40ss", "p/s:s#?"])
def test_e1_a_password_with_other_signs_is_taken_as_it_is(tmp_path: Path, password: str) -> None:
    url = load(tmp_path, DATABASE_URL=f"postgres://ann:{password}@h:5432/d?user=a@b").database_url
    assert (sa.make_url(url).password, sa.make_url(url).host) == (unquote(password), "h")


@pytest.mark.parametrize("secret", [None, "", "  \n"])
def test_e1_a_secret_of_before_is_none_without_a_present_one(tmp_path: Path, secret: str | None) -> None:
    """What is blank would be a signature that anybody can make, and a name left out a rotation that never ends."""
    environ = {} if secret is None else {"WEBHOOK_SECRET": secret}
    assert load(tmp_path, **environ, WEBHOOK_SECRET_PREVIOUS="old").webhook_secrets == ()
    assert load(tmp_path, WEBHOOK_SECRET="new", WEBHOOK_SECRET_PREVIOUS=" ").webhook_secrets == ("new",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "65536"),
        ("APP_ID", "my-app"),
        ("LOG_LEVEL", "LOUD"),
        ("DATABASE_URL", "mysql://x"),
        # Each process would have a database of its own, and what was accepted would be lost.
        ("DATABASE_URL", "sqlite:///:memory:"),
        ("GITHUB_API_URL", "ghe.example.org"),
        ("GITHUB_API_URL", "https://ghe.example.org:port/api/v3"),
        ("DOPPEL_EMBEDDING_URL", "http://localhost:114340/v1"),
        ("DOPPEL_PAUSED", "maybe"),
        ("DOPPEL_DEBOUNCE", "-1"),
        ("DOPPEL_DEBOUNCE", "soon"),
        ("DOPPEL_SIBLINGS", "acme/app, lib"),
        ("DOPPEL_SQLITE_SYNC", "off"),
        ("PRIVATE_KEY_PATH", "/nonexistent/key.pem"),
        ("PRIVATE_KEY_PATH", "~nobody-of-this-name/key.pem"),
        ("DOPPEL_HOME", "~nobody-of-this-name/doppel"),
    ],
)
def test_e1_a_wrong_value_names_its_variable(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load(tmp_path, **{name: value})


def test_e1_what_the_app_needs_is_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, WEBHOOK_SECRET: not set"):
        load(tmp_path).require_app()
    with pytest.raises(SettingsError, match=r"^PRIVATE_KEY or PRIVATE_KEY_PATH: not set. Add the"):
        load(tmp_path, APP_ID="7", WEBHOOK_SECRET="s").require_app()


def test_secrets_never_show(tmp_path: Path) -> None:
    secret = {"WEBHOOK_SECRET": "hush1", "GITHUB_TOKEN": "hush2", "DATABASE_URL": "postgresql://u:hush3@h/d"}
    assert "hush" not in repr(load(tmp_path, **secret))


def test_e1_every_setting_is_documented() -> None:
    documented = {variable.name: variable for variable in settings.VARIABLES}
    assert {DEDUPLICATION_THRESHOLD, "PRIVATE_KEY_PATH", "WEBHOOK_SECRET_PREVIOUS"} < documented.keys()
    assert len(documented) == len(settings.Settings.model_fields) + 3
    assert all(variable.meaning for variable in documented.values())


def test_e1_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(settings.WrongSettings) as refused:
        load(tmp_path, PORT="http", DOPPEL_PAUSED="maybe", PRIVATE_KEY="nonsense", DATABASE_URL="mysql://x")
    assert [problem.partition(":")[0] for problem in refused.value.problems] == [
        "DATABASE_URL",
        "PRIVATE_KEY",
        "PORT",
        "DOPPEL_PAUSED",
    ]
    assert not any(value in str(refused.value) for value in ("http", "maybe", "nonsense", "mysql"))
    with pytest.raises(settings.WrongSettings, match=r"^DOPPEL_EMBEDDING_MODEL: must name a model of the endpoint"):
        load(tmp_path, DOPPEL_EMBEDDING_URL="http://localhost:11434/v1")


def test_e1_names_that_nothing_reads_are_found_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("WEBHOOK_SECERT=x\nDOPPEL_DEBOUNCE=2\nHTTPS_PROXY=x\nSIM_TOKEN_READ=x\n")
    environ = {"DOPPEL_PAUSE": "on", "DOPPEL_NONSENSE_OF_MINE": "1", "APPID": "1", "PATH": "/bin"}
    assert settings.misspelt(environ, tmp_path / ".env") == {
        "WEBHOOK_SECERT": "WEBHOOK_SECRET",
        "DOPPEL_PAUSE": "DOPPEL_PAUSED",
        "DOPPEL_NONSENSE_OF_MINE": "",
    }


def test_e1_the_channel_is_an_address_and_never_shown(tmp_path: Path) -> None:
    assert "hush" not in repr(load(tmp_path, WEBHOOK_PROXY_URL="https://smee.io/hush"))
    for wrong in ("file:///hush", "smee.io/hush", "ftp://hush", "http://", "http://[hush"):
        with pytest.raises(SettingsError, match="WEBHOOK_PROXY_URL") as refused:
            load(tmp_path, WEBHOOK_PROXY_URL=wrong)
        assert "hush" not in str(refused.value)


@pytest.mark.parametrize("name", ["DOPPEL_EMBEDDING_URL", "GITHUB_API_URL"])
@pytest.mark.parametrize("login", ["ann:hush@", "hush@", ":hush@", "@"])
def test_e1_an_address_that_is_told_in_messages_holds_no_password(tmp_path: Path, name: str, login: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: .* name or password") as refused:
        load(tmp_path, **{name: f"https://{login}models.example/v1"})
    assert "hush" not in str(refused.value)
    assert load(tmp_path, WEBHOOK_PROXY_URL="https://ann:hush@channel.example/c"), "which no message names"


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
