"""The private key by which the App signs, read from its text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes


@lru_cache(maxsize=4)
def read_key(pem: str) -> PrivateKeyTypes:
    """The key in a PEM, whatever its kind.

    Reading it checks its primes, which takes as long as many requests. So it is done once a process: who loads the
    settings looks whether it is a good one, and each client signs with it.

    Raises TypeError where it is protected by a password, ValueError or UnsupportedAlgorithm where it is damaged.
    """
    # Loaded only here: most commands need no key.
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(pem.encode("ascii", errors="replace"), password=None)
