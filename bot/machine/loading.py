"""Loading a program without looking for garbage, of which that makes next to none.

A process loads up to fifteen hundred modules. Python looks through everything that is there again and again meanwhile,
which takes a tenth of that time or more, and later at each full look for garbage, of which the last is when it ends.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """While modules are imported inside, garbage is not looked for; what is loaded then is left out of all later looks.

    The memory of processes that stay, which nobody looks through any more, also stays shared with their forks.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
