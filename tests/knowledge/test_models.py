"""Which model compares the texts of a playbook, through the import that hosts have."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from bot.interfaces.agents.run import run_deduplication
from bot.interfaces.agents.vectors import choose_model
from bot.search.embedding import local
from tests.knowledge.library import Fake
from tests.knowledge.playbooks import PATTERNS, entry, fails, given, never, playbook


class TestModels:
    """Which model decides, and at which threshold (D1, D5, D6)."""

    def use(self, monkeypatch: pytest.MonkeyPatch, rows: Any) -> Fake:
        fake = Fake(rows)
        monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
        return fake

    def test_d1_the_recommended_model_decides_where_it_is_installed(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        fake = self.use(monkeypatch, given({("a", "b"): 0.84}, "a", "b"))
        with caplog.at_level("INFO"):
            run_deduplication(book := playbook(patterns=[entry("a"), entry("b")]))
        assert len(book["sections"][PATTERNS]) == 2
        assert fake.loaded == ["all-MiniLM-L6-v2"]
        assert "all-MiniLM-L6-v2 at threshold 0.85" in caplog.text

    def test_d6_it_is_loaded_on_first_need(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fake = self.use(monkeypatch, never)
        run_deduplication(playbook(patterns=[entry("a")]))
        assert fake.loaded == []

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

    def test_d1_wordllama_stands_in_with_its_own_threshold(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        book = playbook(patterns=[entry("run the tests before committing"), entry("before committing, run the tests")])
        with caplog.at_level("INFO"):
            run_deduplication(book)
        assert len(book["sections"][PATTERNS]) == 1
        assert f"wordllama at threshold {choose_model('wordllama').threshold:.2f}" in caplog.text

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

    def test_d5_a_corrupt_model_file_changes_nothing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        tokenizer, rows = local._read_wordllama()
        broken = np.full_like(rows, np.nan)
        monkeypatch.setattr("bot.search.embedding.local._read_wordllama", lambda: (tokenizer, broken))
        book = playbook(patterns=[entry("the same"), entry("the same")])
        assert len(run_deduplication(book)["sections"][PATTERNS]) == 2
        assert "no finite numbers" in capsys.readouterr().err

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
