"""RSA keys for simulated Apps."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


class KeyPair(NamedTuple):
    """A private key and its public half, both as PEM."""

    private: str
    public: str


def new_pair() -> KeyPair:
    """A fresh pair, with the private key in the form that GitHub gives out (PKCS#1)."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(private.decode(), public.decode())


@lru_cache(maxsize=1)
def shared_pair() -> KeyPair:
    """One pair for the whole process: making a pair takes longer than starting a simulator."""
    return new_pair()
