"""E1: the App's key from a file, a variable or base64; what is wrong is named, and never shown."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bot.domain.errors import SettingsError
from bot.platform.settings.loading import read_private_key


def pem_of(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, password: bytes | None = None) -> str:
    protection = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8 if password else serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, protection).decode()


RSA = rsa.generate_private_key(65537, 2048)
PEM = pem_of(RSA)
BODY = "".join(PEM.splitlines()[1:-1])


FORMS = {
    "pem": PEM,
    "blank lines": "\n\n" + PEM + "\n\n",
    "written-out newlines": PEM.replace("\n", "\\n"),
    "quoted": '"' + PEM.replace("\n", "\\n") + '"',
    "base64": base64.b64encode(PEM.encode()).decode(),
    "base64 in lines": base64.encodebytes(PEM.encode()).decode(),
    "windows": PEM.replace("\n", "\r\n"),
    "windows, written out": PEM.replace("\n", "\\r\\n"),
    "base64 of written-out newlines": base64.b64encode(PEM.replace("\n", "\\n").encode()).decode(),
}


@pytest.mark.slow
@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS.keys())
def test_e1_private_key_takes_every_usual_form(value: str, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(value, newline="")
    for key in (read_private_key({"PRIVATE_KEY": value}), read_private_key({"PRIVATE_KEY_PATH": str(path)})):
        loaded = serialization.load_pem_private_key(key.encode(), password=None)
        assert isinstance(loaded, rsa.RSAPrivateKey)
        assert loaded.private_numbers() == RSA.private_numbers()


def test_e1_private_key_from_a_file_and_the_variable_wins(tmp_path: Path) -> None:
    (tmp_path / "app.pem").write_text(PEM)
    assert read_private_key({"PRIVATE_KEY_PATH": str(tmp_path / "app.pem")}) == PEM
    assert read_private_key({"PRIVATE_KEY": PEM, "PRIVATE_KEY_PATH": "/nowhere"}) == PEM


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("hello", "not a PEM key"),
        ("clé", "not a PEM key"),
        (BODY, "not a PEM key"),
        (PEM[:400], "damaged or cut off"),
        (PEM.replace(BODY[200:210], "é" * 10), "damaged or cut off"),
        (pem_of(RSA, password=b"secret"), "protected by a password"),
        (pem_of(ec.generate_private_key(ec.SECP256R1())), "no RSA key"),
        (
            RSA.public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
            .decode(),
            "public key",
        ),
    ],
    ids=["word", "word that is not ascii", "body alone", "cut", "not ascii", "password", "elliptic", "public"],
)
def test_a_wrong_key_is_explained_and_never_shown(value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        read_private_key({"PRIVATE_KEY": value})
    assert str(caught.value).startswith("PRIVATE_KEY: ")
    assert BODY[:20] not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"PRIVATE_KEY_PATH: cannot read .*absent\.pem: No such file"):
        read_private_key({"PRIVATE_KEY_PATH": str(tmp_path / "absent.pem")})
    with pytest.raises(SettingsError, match="PRIVATE_KEY_PATH: cannot read"):
        read_private_key({"PRIVATE_KEY_PATH": str(tmp_path)})


PASTED = FORMS | {"body alone": BODY, "cut": PEM[:100], "base64, cut": FORMS["base64"][:-3]}


@pytest.mark.parametrize("value", PASTED.values(), ids=PASTED.keys())
def test_a_key_in_place_of_its_path_is_explained_and_never_shown(value: str) -> None:
    with pytest.raises(SettingsError, match=r"^PRIVATE_KEY_PATH: .* PRIVATE_KEY instead") as caught:
        read_private_key({"PRIVATE_KEY_PATH": value})
    assert not any(value[place : place + 20] in str(caught.value) for place in range(len(value) - 20))
