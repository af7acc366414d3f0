"""C6: the bot answers in the issue's language or that of the settings, and in the repository's own words."""

from __future__ import annotations

from bot.conversation.messages.catalogue import messages_for
from tests.e2e.harness import Doppel

FIRST = (
    "Absturz beim Exportieren als PDF",
    "Der Export bricht mit `PdfRenderError: page 7` ab, und ich sehe nichts mehr. Das ist seit gestern so.",
)
AGAIN = (
    "Beim Exportieren als PDF stürzt es ab",
    "Wenn ich exportiere, kommt `PdfRenderError: page 7`, und die Datei ist nicht da. Mit Bildern geht es auch nicht.",
)


def test_c6_an_issue_is_answered_in_its_language_and_the_same_comment_in_another_later(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    (comment,) = doppel.sim.comments(doppel.repo, 2)
    german, french = messages_for("de", {}), messages_for("fr", {})
    assert doppel.said(2)[0].splitlines()[1] in (german.found(count=1), german.related(count=1))
    assert "   - Wörter in beiden Titeln: " in comment.body
    doppel.write(2, "/duplicates xyzzy")
    assert doppel.said(2)[1].endswith("`xyzzy` kenne ich nicht. `/duplicates help` zählt auf, was ich kann.\n")
    doppel.configure("language: fr\n")
    doppel.write(2, "/duplicates")
    assert doppel.said(2)[0].splitlines()[1] in (french.found(count=1), french.related(count=1))
    assert doppel.sim.comments(doppel.repo, 2)[0] is comment


def test_c6_a_repository_has_its_own_words_and_hears_which_are_wrong(doppel: Doppel) -> None:
    doppel.configure(
        'likely: 0\ntemplates:\n  found: "**Seen before?**"\n  nothing: "@octocat"\n  fuond: x\nlanguage: es\n'
    )
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    assert doppel.advice(2).splitlines()[1] == "**Seen before?**"
    doppel.write(2, "/duplicates mute", "triage-person")
    _, reply = doppel.said(2)
    assert "Silencio desde ahora: este issue se deja en paz." in reply
    assert "\n- línea 4, columna 12: «@\N{ZERO WIDTH SPACE}octocat» no puede estar en un texto:" in reply
    assert "\n- línea 5, columna 3: no hay ningún texto llamado «fuond»; ¿querías decir `found`?\n" in reply
