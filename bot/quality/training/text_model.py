"""Tunes the text model on marked duplicates, and writes the files that `bot/search/embedding/local_models.py` reads.

The base model is all-MiniLM-L6-v2 (Wang and others, 2020; Reimers and Gurevych, 2019). A batch holds pairs of texts of
one project. The partner of an issue's text is the text of the next issue in the same group of duplicates. The multiple
negatives ranking loss (Henderson and others, 2017), with cosines scaled by 20, moves each text closer to its partner
than to all other partners of the batch. Tuning changes neither the embeddings nor the first two layers: a few thousand
pairs are not enough to improve them. The tuned model has eight-bit weights.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from bot.platform.private_files import make_folder, replace_file
from bot.quality.evaluation.trial import read_labels
from bot.quality.replay.archive import read_archive
from bot.search.embedding.local_models import MOST_CHARACTERS, MOST_TOKENS
from bot.search.index import TextAnalyser
from bot.search.index.analysis import SUPPLIED_ISSUES, SUPPLIED_SHARE

#: The model to tune, by its name on the Hugging Face Hub.
BASE = "sentence-transformers/all-MiniLM-L6-v2"
#: EPOCHS: rounds through all groups of duplicates. BATCH: pairs. RATE: highest learning rate. SCALE: cosines' factor.
EPOCHS, BATCH, RATE, SCALE = 2, 48, 3e-5, 20.0
# The number of layers that tuning does not change, besides the embeddings.
_FROZEN = 2

Pair = tuple[str, str]


def tune(files: Sequence[Path], folder: Path, progress: Callable[[int, int], None], *, seed: int) -> None:
    """Tune a model and write the result into `folder`. Raises ValueError if every file marks too few groups."""
    import torch
    from torch.nn import functional
    from transformers import AutoTokenizer

    projects = [_pairs(path) for path in files]
    steps = EPOCHS * sum(len(groups) // BATCH for groups in projects)
    if not steps:
        raise ValueError(f"fewer than {BATCH} groups of duplicates are marked in each file")
    tokenizer, model = AutoTokenizer.from_pretrained(BASE), _model()
    tuned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(tuned, lr=RATE, weight_decay=0.01)
    warm_up_steps = max(1, steps // 10)
    for step, batch in enumerate(islice(_batches(projects, random.Random(seed)), steps)):  # noqa: S311 - no secret
        # The rate rises for the first tenth of the steps, then falls to zero.
        for parameters in optimizer.param_groups:
            parameters["lr"] = RATE * min((step + 1) / warm_up_steps, 1.0) * (steps - step) / steps
        texts, partners = zip(*batch, strict=True)
        vectors = _embed(model, tokenizer, [*texts, *partners])
        # The similarity of each text (row) and each partner (column). The diagonal has each text's own partner.
        likeness = SCALE * vectors[: len(batch)] @ vectors[len(batch) :].T
        own = torch.arange(len(batch))
        loss = (functional.cross_entropy(likeness, own) + functional.cross_entropy(likeness.T, own)) / 2
        loss.backward()
        torch.nn.utils.clip_grad_norm_(tuned, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        progress(step + 1, steps)
    _write(model, tokenizer, folder, {"files": [path.name for path in files], "base": BASE, "seed": seed})


def _pairs(path: Path) -> list[list[Pair]]:
    """A file's pairs, in a list for each group of duplicates. A pair is an issue's indexed text and its partner's."""
    issues, labels = read_archive(path), read_labels(path)
    analyser = TextAnalyser()
    lines = [analyser.lines_of(issue.body) for issue in issues]
    seen = Counter(line for issue_lines in lines for line in set(issue_lines))
    # Lines that many issues share come from a form. The index leaves them out, too.
    least = max(SUPPLIED_ISSUES, SUPPLIED_SHARE * len(issues))
    groups = defaultdict[Any, list[str]](list)
    sizes = Counter(labels.group[issue.id] for issue in issues)
    for issue, issue_lines in zip(issues, lines, strict=True):
        if sizes[labels.group[issue.id]] > 1:
            boilerplate = {line for line in issue_lines if line and seen[line] >= least}
            text = analyser.read(issue.title, issue.body, issue_lines, boilerplate).text
            groups[labels.group[issue.id]].append(text[:MOST_CHARACTERS])
    return [list(pairwise(texts)) for texts in groups.values()]


def _batches(projects: Sequence[Sequence[Sequence[Pair]]], rng: random.Random) -> Iterator[list[Pair]]:
    """An endless series of batches. Each batch holds pairs of one project, with at most one pair of each group."""
    while True:
        batches = []
        for groups in projects:
            chosen = [rng.choice(group) for group in rng.sample(list(groups), len(groups))]
            batches += [chosen[start : start + BATCH] for start in range(0, len(chosen) - BATCH + 1, BATCH)]
        rng.shuffle(batches)
        yield from batches


def _model() -> Any:
    from transformers import BertModel

    # Without dropout a text always gets the same vector. Dropout would also use a quarter of the tuning time.
    model = BertModel.from_pretrained(
        BASE,
        add_pooling_layer=False,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    frozen = ("embeddings.", *(f"encoder.layer.{layer}." for layer in range(_FROZEN)))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.startswith(frozen)
    return model.train()


def _embed(model: Any, tokenizer: Any, texts: Sequence[str]) -> Any:
    import torch

    tokens = tokenizer(list(texts), padding=True, truncation=True, max_length=MOST_TOKENS, return_tensors="pt")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states = model(**tokens).last_hidden_state
    return _pooled(states.float(), tokens["attention_mask"])


def _pooled(states: Any, mask: Any) -> Any:
    """The mean of the tokens' states, scaled to length one."""
    from torch.nn import functional

    weights = mask.unsqueeze(-1).to(states.dtype)
    return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1)


def _write(model: Any, tokenizer: Any, folder: Path, origin: dict[str, object]) -> None:
    import torch
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer

    def forward(_: Any, input_ids: Any, attention_mask: Any) -> Any:
        states = model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return _pooled(states, attention_mask)

    exported = type("Exported", (torch.nn.Module,), {"forward": forward})()  # a model that returns pooled vectors
    exported.model = model.eval()
    make_folder(folder)
    ids = torch.ones((2, 16), dtype=torch.int64)
    with tempfile.TemporaryDirectory(prefix="doppel-") as work:
        plain, fused = Path(work) / "plain.onnx", Path(work) / "fused.onnx"
        torch.onnx.export(
            exported,
            (ids, ids),
            str(plain),
            input_names=["input_ids", "attention_mask"],
            output_names=["vector"],
            dynamic_axes={"input_ids": {0: "n", 1: "l"}, "attention_mask": {0: "n", 1: "l"}, "vector": {0: "n"}},
            opset_version=17,
            dynamo=False,
        )
        heads, width = model.config.num_attention_heads, model.config.hidden_size
        optimizer.optimize_model(str(plain), model_type="bert", num_heads=heads, hidden_size=width).save_model_to_file(
            str(fused)
        )
        options = {"DefaultTensorType": TensorProto.FLOAT}
        quantize_dynamic(
            fused, Path(work) / "model.onnx", weight_type=QuantType.QInt8, per_channel=True, extra_options=options
        )
        tokenizer.save_pretrained(work)
        for name in ("model.onnx", "tokenizer.json"):
            shutil.copyfile(Path(work) / name, folder / name)
    replace_file(folder / "made.json", [json.dumps({"name": folder.name, **origin}, indent=1) + "\n"])
