"""What the set-up page has got is kept for its owner alone, and is what every process then reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.errors import SettingsError
from bot.github.app import NewApp
from bot.interfaces.setup.registration import CannotSave, Credentials, check_writable, save_credentials
from bot.platform.settings import Settings, load
from bot.platform.settings.loading import credentials_file
from bot.simulator.keys import shared_pair

APP = NewApp(
    id=77,
    slug="doppel-for-acme",
    private_key=shared_pair().private,
    webhook_secret="it's a \\secret\\ with 'signs' and $HOME",
    client_id="Iv1.abc",
    client_secret="quiet",
)
MADE = Credentials(APP, "https://git.example.org/api/v3", "https://smee.io/abc")


def read(home: Path, **environ: str) -> Settings:
    return load({"DOPPEL_HOME": str(home), **environ}, home / "no.env")


def test_the_settings_are_those_that_were_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert read(home).new
    save_credentials(home, MADE)
    settings = read(home).require_app()
    assert not settings.new
    assert (settings.app_id, settings.private_key.strip()) == (77, APP.private_key.strip())
    assert settings.webhook_secrets == (APP.webhook_secret,)
    assert (settings.client_id, settings.client_secret) == ("Iv1.abc", "quiet")
    assert (settings.github_api_url, settings.webhook_proxy_url) == (MADE.api_url, MADE.proxy_url)


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    save_credentials(home, MADE)
    assert credentials_file(home).stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in home.iterdir()] == ["app.env"]


def test_an_app_in_the_environment_is_not_mixed_with_the_one_that_was_kept(tmp_path: Path) -> None:
    save_credentials(tmp_path, MADE)
    settings = read(tmp_path, APP_ID="5")
    assert (settings.app_id, settings.private_key, settings.webhook_secrets) == (5, "", ())
    # What is no part of the App can be put right by the environment.
    assert read(tmp_path, WEBHOOK_PROXY_URL="https://smee.io/other").webhook_proxy_url == "https://smee.io/other"


def test_a_second_app_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    save_credentials(tmp_path, MADE)
    with pytest.raises(SettingsError, match=r"app\.env: an App has been set up already"):
        save_credentials(tmp_path, replace(MADE, app=replace(APP, id=78)))
    assert read(tmp_path).app_id == 77
    assert [path.name for path in tmp_path.iterdir()] == ["app.env"]


def test_a_file_that_was_saved_in_another_encoding_is_told(tmp_path: Path) -> None:
    save_credentials(tmp_path, MADE)
    with credentials_file(tmp_path).open("ab") as file:
        file.write("# geändert\n".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"app\.env: this is not UTF-8; save the file in that encoding\."):
        read(tmp_path)


def test_a_place_where_nothing_can_be_kept_is_told_beforehand(tmp_path: Path) -> None:
    check_writable(tmp_path / "home")
    assert list((tmp_path / "home").iterdir()) == []
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", Path("/proc/doppel")):
        with pytest.raises(CannotSave, match=r"app\.env: cannot be written"):
            check_writable(place)
        with pytest.raises(CannotSave, match=r"app\.env: cannot be written"):
            save_credentials(place, MADE)
    save_credentials(tmp_path / "home", MADE)
    with pytest.raises(SettingsError, match="an App has been set up already"):
        check_writable(tmp_path / "home")


def test_no_secret_is_in_what_is_printed_of_it() -> None:
    text = repr(MADE)
    assert "doppel-for-acme" in text
    assert not any(secret in text for secret in ("BEGIN", "quiet", "secret\\", "smee.io"))
