"""The script of the show: what people do in the demo repository, and what they are then owed.

Pure data. `show.py` plays it, so a scene that does not come out as it says here makes the demo fail by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.simulator.state.repositories import Role

REPOSITORY = "larkspool/larkspool"
# Roles of the people who are more than visitors (the project's three maintainers, and somebody who sorts issues).
ROLES: dict[str, Role] = {"hedvig-l": "admin", "ostap-k": "maintain", "rnakamura": "write", "digikam-dan": "triage"}
ABOUT = "A photo and video timeline for your own server. It does not exist; its issues were written for this demo."


class Expect(StrEnum):
    """What the bot must do before the show goes on."""

    COMMENT = "comment"  # One advisory comment.
    SILENCE = "silence"  # The work is done and nothing was posted.
    EDIT = "edit"  # The advisory comment has changed.
    REPLY = "reply"  # The command has a comment of its own as its answer.
    ANYTHING = "anything"  # The work is done, with a comment or without.
    CLOSED = "closed"  # The issue is closed as a duplicate.


@dataclass(frozen=True, slots=True)
class Command:
    """A comment with a command on the scene's issue.

    Afterwards the advisory comment (or the reply, where one is expected) must hold the text `contains` and not name the
    issue `lacks`.
    """

    login: str
    text: str
    note: str
    expect: Expect = Expect.EDIT
    contains: str = ""
    lacks: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    """A new issue, what must come of it, and the commands that follow.

    `shows` are candidates that must be named; `created_at` is when the issue is opened, None for now.
    """

    heading: str
    login: str
    title: str
    body: str
    expect: Expect = Expect.COMMENT
    shows: tuple[int, ...] = ()
    unfold: bool = False
    commands: tuple[Command, ...] = ()
    created_at: datetime | None = None


CACHED = "Cached result from"

SCENES = (
    Scene(
        "Two reports share an error text",
        "tonje-r",
        "Red cloud on every second picture at night",
        """### What happened?

My phone sends its pictures at night when it charges. In the morning about half of them have a red cloud with \
"try again later". When I press the button during the day they all go through. The server's log has this, \
again and again.

### Steps

_No response_

### Version

1.1.0

### Deployment

docker compose on a small NUC

### Logs

```shell
ERROR upload{user=4}: LS-2014 could not store asset: database is locked (code 5)
ERROR http: PUT /api/v1/assets 503 in 5002ms
```""",
        shows=(155,),
        unfold=True,
        commands=(
            Command(
                "tonje-r", "/duplicates", "asks for the closest five: answered from what was just read", contains=CACHED
            ),
            Command(
                "ostap-k",
                "Yes, that is the one.\n\n/duplicates of #155",
                "a maintainer agrees: closed as a duplicate",
                Expect.CLOSED,
            ),
        ),
    ),
    Scene(
        "The same thing in other words",
        "boje",
        "NAS no longer goes to sleep",
        """Since I installed 1.1.0 the disks of my NAS are awake around the clock. `iotop` shows spoold writing a few \
bytes to `/data/cache/.heartbeat` every 30 s. With 1.0.0 they went to sleep after twenty minutes, as they should.""",
        shows=(176,),
        commands=(Command("boje", "/duplicates explain #176", "the author asks why", Expect.REPLY, contains="sleep"),),
    ),
    Scene(
        "Never reported before: the bot stays silent",
        "observa-tory",
        "Expose Prometheus metrics",
        """A scrape endpoint in the OpenMetrics text format would let my Alertmanager page me. Gauges and histograms \
by subsystem, please.""",
        Expect.SILENCE,
    ),
    Scene(
        "Fixed once, and there again",
        "joaquim-r",
        "Portrait videos play sideways again since 1.1.0",
        """Videos filmed upright on my iPhone are shown lying on the side since the update, the thumbnails are right. \
ffprobe says `rotation of -90.00 degrees` in the side data. 1.0.0 played the same files correctly.""",
        shows=(39,),
    ),
    Scene(
        "A hostile title",
        "xx-breaker-xx",
        "<!-- doppel --> Duplicate of #1 @larkspool/core [Map stays grey](javascript:0): tile requests answered 403",
        """@hedvig-l @ostap-k <script>alert(1)</script> ![x](https://tracker.invalid/p.png)

Since yesterday the map view is an empty grey area with my markers on it, see the network tab. Response body says that \
a Referer is required. We send `Referrer-Policy: no-referrer`, so no wonder.

```shell
GET https://tile.example-maps.org/12/2171/1322.png 403
Failed to fetch tile 12/2171/1322: 403
```

</details></details>

<!-- doppel -->""",
        shows=(44,),
    ),
    Scene(
        "… and what it looks like as a candidate of the next one",
        "grete77",
        "Map is grey again, tile requests are answered with 403",
        """Only pins, no map, as two years ago.

```
(browser) Failed to fetch tile 9/271/161: 403
```""",
        # The hostile issue of the scene before is #181: the show's issues follow the demo's 176.
        shows=(181,),
        commands=(
            Command("grete77", "/duplicates not #181", "the author wants nothing to do with that one", lacks=181),
            Command(
                "grete77",
                "/duplicates",
                "what else there is: the report that was closed two years ago comes first",
                contains="1. [#44]",
                lacks=181,
            ),
        ),
    ),
)
