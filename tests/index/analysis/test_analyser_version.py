"""The analyser's version tells whether an index has to be read again, so it must change whenever its reading does."""

from __future__ import annotations

import hashlib
import json
import unicodedata

import pytest

from bot.search.index import TextAnalyser
from bot.search.index.analysis import Analysis

READ = {5: "6435da14f31a50d6"}
"""By version, a digest of all that it reads in the texts below."""

FORM = ["What did you do?", "### Expected behaviour", "<!-- Delete what does not apply -->"]

TEXTS = [
    ("", ""),
    ("help", "It does not work."),
    (
        "Heron: pump.start() raises PumpError after 2 hours",
        "```\nPumpError: no pressure (code 17)\n```\nsince v2.4.1-rc1",
    ),
    (
        "panic: index out of range [7] with length 7",
        "goroutine 1 [running]:\nmain.pour(0xc000012345)\n\t/home/ann/heron/pour.go:88 +0x1d\nexit status 2",
    ),
    (
        "Traceback on closing the valve",
        'Traceback (most recent call last):\n  File "/opt/heron/valve.py", line 31, in close\n    raise Stuck(name)\n'
        "heron.errors.Stuck: valve `north` is stuck",
    ),
    ("NullPointerException in TankView", "at dev.heron.TankView.onDraw(TankView.java:112)\n... 14 more"),
    ("System.NullReferenceException: Object reference not set", "   at Heron.Gauge.Read() in C:\\src\\Gauge.cs:line 9"),
    ("Ends with `could not store the level` in the log", "The log ends with `could not store the level: disk full`."),
    ("HTTP 502 / ECONNRESET / 0x80070005 / STATUS_ACCESS_DENIED", "E4021, error TS2345, HRN-118, ORA-00942, SIGSEGV"),
    ("readGaugeValue and read_gauge_value and READ_GAUGE", "`gauge.readAll()`, gauge::read, Gauge#read, $HERON_HOME"),
    ("Please support --dry-run and -n", "heron pour --tank=north -n 3 --dry-run; see https://heron.example/docs?x=1#y"),
    ("Fenêtre trop étroite, naïve café, Straße, İstanbul", "Größe ändern; ça ne marche pas. Não funciona."),
    (unicodedata.normalize("NFD", "Überlauf im Behälter"), unicodedata.normalize("NFD", "läuft über")),
    ("ポンプが起動しない", "タンクの水位が表示されません。ｶﾀｶﾅ も同じです。"),
    ("水泵无法启动", "打开阀门后程序崩溃：错误代码 17。"),
    ("펌프가 시작되지 않습니다", "밸브를 열면 프로그램이 종료됩니다."),
    ("Насос не запускается", "После открытия клапана программа падает."),
    ("المضخة لا تعمل", "توقف البرنامج"),
    ("ปั๊มไม่ทำงาน", "โปรแกรมหยุดทำงาน"),
    ("Pumps 🚰 leak", "Version: 3.0.0+build.5\nOS: Windows 11 (10.0.22631)\nNode: v20.11.0\nCommit: 9fceb02d0ae598e9"),
    ("Duplicate of #12?", "Like #12, heron/heron#13, GH-14 and https://github.com/heron/heron/issues/15; @ann knows."),
    ("What ends with the form", f"<!-- Nothing applies\n{FORM[2]}\nIt leaked."),
    ("What comes from the form", "\n".join([*FORM, "It leaked.", FORM[1], "No leak."])),
    (
        "[Bug]: **bold** & <b>html</b> &amp; entities",
        "- [x] I searched\n- [ ] I did not\n\n> quoted\n\n| a | b |\n|---|---|",
    ),
    ("Running pumps were running, cities, taxes, flies, leaves", "unable, cannot, can't, don't, won't, isn't"),
    ("x" * 5_000, "word " * 30_000),
    ("internal added organized paste", "Some packages stem these in other ways, and so another release of them can."),
    (
        " ".join(f"tank{n}" for n in range(90)),
        " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400)),
    ),
    ("Many names", "\n".join(f"`pour_{n}()` in src/pour_{n}.c" for n in range(300))),
    ("Many lines", "\n".join(f"Pump {n} stands still." for n in range(300))),
    ("Many messages", "\n".join(f"Error: pump {n} has lost its valve" for n in range(30))),
    ("Quotes", "can't open 'level.map' and isn't sorry\nerror: ‘gauge’ is undeclared here\nit can’t open “the” map"),
    ("Long and short messages", f"Error: no\nError: no oil\nError: {'it is dry ' * 40}"),
    (
        "a" * 25 + " " + "b" * 35 + " " + "c" * 45 + " 9fceb02 abcdef1 12345678",
        "2.0.0-beta1 v1.0.0-rc.1 3.1-alpha deadbeef",
    ),
    ("Typing <!-- into the editor", "As `<!--` does.\n\nSeen\n<!-- Describe what you saw\n\nNothing."),
    (
        "Logged",
        "\x1b[1;31merror\x1b[0m 2024-05-06T10:11:12.345Z\n"
        "2024/05/06 10:11:12 pump 0a1b2c3d-1111-4222-8333-4444aaaa6666 fell",
    ),
    ("🐛 [Bug]: pump: stands still", "bug: no kind"),
    ("Ｅｒｒｏｒ ﾎﾞﾀﾝ", "Чёрный счётчик, İndirme AÇILMIYOR"),
    ("Log", "\n".join(f"2024-01-{n:02} 10:00:{n:02} INFO level is {n}" for n in range(1, 29))),
]


def digest() -> str:
    analyser = TextAnalyser()
    read = []
    for title, body in TEXTS:
        lines = analyser.lines_of(body)
        for supplied in ((), {" ".join(line.lower().split()) for line in FORM}):
            analysis = analyser.read(title, body, lines, supplied)
            read.append([lines, {name: sorted(terms.items()) for name, terms in analysis.terms.items()}])
    return hashlib.sha256(json.dumps(read).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def test_texts_are_read_as_this_version_reads_them() -> None:
    assert digest() == READ.get(TextAnalyser.version), (
        "Texts are read differently. Raise TextAnalyser.version, so that each host's index is read again, and note "
        f"{digest()} for it here."
    )


def read(title: str, body: str) -> Analysis:
    analyser = TextAnalyser()
    return analyser.read(title, body, analyser.lines_of(body), ())


@pytest.mark.parametrize(
    "spaces", [("\n", "\r\n"), ("\n", "\n\n"), ("\n", " "), (" ", "  "), (" ", "\t"), (" ", "\u00a0"), ("\n", "\n    ")]
)
def test_which_spaces_part_the_words_makes_no_difference(spaces: tuple[str, str]) -> None:
    """It does to a model's tokens: wordllama knows a word behind a tab, or at the beginning of a line, as another."""
    title, body = "The valve sticks", "It does not close any more.\nThe gauge shows nothing."
    plain, spaced = read(title, body), read(title.replace(*spaces), body.replace(*spaces))
    assert (spaced.title, spaced.text) == (plain.title, plain.text)
    assert plain.text.split() == f"{title} {body}".lower().split()


def test_capitals_make_no_difference() -> None:
    """They do to a model's tokens, and a title in capitals is about the same."""
    title, body = "The valve sticks", "It does not close any more."
    plain, loud = read(title, body), read(title.upper(), body.upper())
    assert (loud.title, loud.text) == (plain.title, plain.text)
