"""Status codes of Windows: what a process ended with, or why a call failed.

They look like addresses and other data, and are none: two crashes with one code have something in common. Hexadecimal
and decimal, signed and unsigned, they are one: 0xC0000005, -1073741819 and 3221225477. Source: Microsoft's [MS-ERREF],
2.1 (HRESULT, a failure has the highest bit) and 2.3 (NTSTATUS, an error has the two highest).
"""

from __future__ import annotations

import re

# The last two are those of uncaught exceptions of C++ and of .NET.
_HEXADECIMAL = re.compile(r"0x(?:[8c][0-9a-f]{7}|e06d7363|e0434352)", re.IGNORECASE)
_DECIMAL = re.compile(r"[0-9]{10}")
# Decimal numbers of ten digits are many things, so of these only what is usual: facilities 4 to 7, and 0 of NTSTATUS.
_USUAL = (range(0x8004_0000, 0x8008_0000), range(0xC000_0000, 0xC001_0000))


def status_code(word: str) -> str:
    """The code in lower-case hexadecimal that a word is, its sign left out or not; empty where it is none."""
    if _HEXADECIMAL.fullmatch(word):
        return word.lower()
    if _DECIMAL.fullmatch(word):
        value = int(word)
        for unsigned in (value, 2**32 - value):
            if any(unsigned in usual for usual in _USUAL):
                return f"{unsigned:#010x}"
    return ""
