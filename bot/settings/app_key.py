"""The App's private key as hosts hand it over: a file, a variable, or base64 in a variable (E1)."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from bot.errors import SettingsError
from bot.settings.values import path_of
from bot.signing_key import read_key

_BEGIN = "-----BEGIN "
_MOST_BYTES = 64 * 1024


def read_private_key(values: Mapping[str, str]) -> str:
    r"""The key in PEM, or an empty string where none is set.

    `PRIVATE_KEY` wins over the file of `PRIVATE_KEY_PATH`. Both take a PEM, one with `\n` written out as many hosting
    panels do, or base64 of either. Raises SettingsError that names the variable and the way to mend it, and never shows
    the value.
    """
    if text := values.get("PRIVATE_KEY", "").strip():
        return _checked("PRIVATE_KEY", _decoded(text))
    if path := values.get("PRIVATE_KEY_PATH", "").strip():
        return _checked("PRIVATE_KEY_PATH", _decoded(_file(path)))
    return ""


def _decoded(text: str) -> str:
    """PEM from what was handed over; what cannot be decoded comes back as it is, for `_checked` to refuse."""
    text = _with_lines(text)
    if _BEGIN in text:
        return text
    try:
        return _with_lines(base64.b64decode("".join(text.split()), validate=True).decode("ascii"))
    except ValueError:
        # No base64, not ASCII, or base64 of what is not ASCII.
        return text


def _with_lines(text: str) -> str:
    r"""Without quotes around it, and with lines where `\n` or `\r\n` stands for their ends."""
    return text.strip().strip("\"'").replace("\\r\\n", "\n").replace("\\n", "\n")


def _file(name: str) -> str:
    path = path_of("PRIVATE_KEY_PATH", name)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as problem:
        raise SettingsError(
            f"PRIVATE_KEY_PATH: cannot read {path}: {problem.strerror}. It must be the .pem file that GitHub offered "
            "for download when the key was generated."
        ) from None
    return data.decode("ascii", errors="replace")


def _checked(variable: str, pem: str) -> str:
    """`pem` if it is an RSA key as GitHub hands out; all else is refused here rather than at the first webhook."""
    # The library takes 50 ms to import, which processes that need no key shall not pay.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    pem = pem.strip() + "\n"
    if _BEGIN not in pem:
        raise SettingsError(
            f"{variable}: not a PEM key (it must start with -----BEGIN RSA PRIVATE KEY-----), nor base64 of one."
        )
    if "PRIVATE KEY-----" not in pem:
        raise SettingsError(f"{variable}: this is a public key or a certificate; the App needs its private key.")
    try:
        key = read_key(pem)
    except TypeError:
        raise SettingsError(
            f"{variable}: the key is protected by a password; use the file as GitHub made it."
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise SettingsError(
            f"{variable}: the key is damaged or cut off; copy the whole file, or generate a new key in the settings of "
            "the App."
        ) from None
    if not isinstance(key, RSAPrivateKey):
        raise SettingsError(f"{variable}: this is no RSA key; GitHub Apps sign with the RSA key that GitHub generates.")
    return pem
