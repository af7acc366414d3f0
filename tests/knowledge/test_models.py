"""Which model compares the texts of a playbook, through the import that hosts have."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from bot.interfaces.agents.run import run_deduplication
from tests.knowledge.playbooks import PATTERNS, Fake, entry, fails, never, playbook


class TestModels:
    """Which model decides, and at which threshold (D1, D5, D6)."""

    def use(self, monkeypatch: pytest.MonkeyPatch, rows: Any) -> Fake:
        fake = Fake(rows)
        monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
        return fake

    @pytest.mark.parametrize("rows", [fails, lambda texts: np.full((len(texts), 2), np.nan), never])
    def test_d5_d9_an_encode_error_changes_nothing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rows: Any
    ) -> None:
        self.use(monkeypatch, rows)
        book = playbook(patterns=[entry("the same"), entry("the same")])
        before = copy.deepcopy(book)
        assert run_deduplication(book) is book
        assert book == before
        assert "left as it is" in capsys.readouterr().err

    def test_d5_d9_without_any_library_stderr_says_so(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        monkeypatch.setitem(sys.modules, "wordllama", None)
        book = playbook(patterns=[entry("the same"), entry("the same")])
        before = copy.deepcopy(book)
        assert run_deduplication(book) is book
        assert book == before
        assert "pip install" in capsys.readouterr().err

    def test_an_empty_text_is_not_taken_for_the_one_behind_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        texts = ["use type hints everywhere", "", "deploy to staging on weekdays"]
        book = playbook(patterns=[entry(text) for text in texts])
        assert [one["text"] for one in run_deduplication(book)["sections"][PATTERNS]] == texts

    @pytest.mark.slow
    def test_d5_huge_and_odd_texts(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """Long texts are compared whole: a common beginning is not enough."""
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        long = "use type hints everywhere " * 20_000
        other = long[: len(long) // 4] + "deploy to staging on weekdays " * 60_000
        book = playbook(patterns=[entry(text) for text in (long, other, long, "", "", "\x00", "😀" * 1000)])
        run_deduplication(book)
        kept = [one["text"] for one in book["sections"][PATTERNS]]
        assert kept[:2] == [long, other]
        assert long not in kept[1:]
        assert capsys.readouterr().err == "deduplication: all-MiniLM-L6-v2 is not installed; wordllama stands in\n"
        book = playbook(patterns=[entry("\ud800"), entry("a")])
        assert run_deduplication(book) is book


@pytest.mark.processes
def test_d5_without_numpy_the_import_succeeds_and_the_playbook_stays_as_it_is() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from bot.interfaces.agents.run import run_deduplication\n"
        "entry = {'name': 'n', 'text': 't', 'helpful': 0, 'harmful': 0}\n"
        "book = {'version': 1, 'last_updated': '', 'sections': {'OTHERS': [entry, dict(entry)]}}\n"
        "print(run_deduplication(book) is book, len(book['sections']['OTHERS']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True 2"
    assert "numpy" in done.stderr


@pytest.mark.processes
def test_d6_importing_and_one_entry_load_no_model() -> None:
    """In a process of its own: nothing that computes vectors is even imported."""
    code = (
        "import sys; from bot.interfaces.agents.run import run_deduplication\n"
        "run_deduplication({'version': 1, 'last_updated': '', 'sections': {'OTHERS': [\n"
        "    {'name': 'n', 'text': 't', 'helpful': 0, 'harmful': 0}]}})\n"
        "print([name for name in ('sentence_transformers', 'torch', 'wordllama', 'tokenizers', 'safetensors')\n"
        "       if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
