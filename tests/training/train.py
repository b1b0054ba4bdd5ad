"""Learns the weights of the classifier from the labelled lines: ``make train`` writes ``domain/checks/weights.json``.

Thresholds come from lines that the weights have not seen: each writer's lines are scored by a model of all the others.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from minutebook.domain.checks.classifier import sentences
from minutebook.domain.checks.features import letters, plain, words

ROOT = Path(__file__).resolve().parents[2]
LINES = ROOT / "tests" / "data" / "checks" / "lines"
WEIGHTS = ROOT / "domain" / "checks" / "weights.json"

STRENGTH = 20.0
"""Inverse of the regularisation, as scikit-learn's ``C``."""
SEEN_MIN = 3
"""A feature of one or two lines is chance."""
WEIGHT_MIN = 0.25
"""A feature that weighs less is left out: half of them do, and the scores stay what they were."""
ENTRY_FALSE = 0.026
SENTENCE_FALSE = 0.003
PASSAGE_FALSE = 0.010
"""Share of honest lines, unseen in training, that each threshold lets be refused."""
REQUESTS = ("writer_09", "writer_11", "writer_14")
REQUESTS_WEIGH = 3.0
"""Honest requests of everyday life are far more in the world than in the lines: each counts as so many."""
FOLDS = 5
"""Sources are dealt into so many parts; each part is scored by a model of the others."""
ALONE = ("real_texts", "writer_09", "writer_11", "writer_14")
"""Sources without a second of their kind: dealt line by line, so that the model of the others knows the kind."""


class Line(NamedTuple):
    """A text, whether it is an attack, and the file it comes from."""

    text: str
    attack: bool
    source: str


class Model(NamedTuple):
    """Which feature stands in which column, and what was learnt."""

    columns: dict[tuple[int, str], int]
    weight: Any
    bias: float


def lines() -> list[Line]:
    """Every labelled line, in a fixed order."""
    return [
        Line(row["text"], row["label"] == "reject", f"{path.stem}.{at % FOLDS}" if path.stem in ALONE else path.stem)
        for path in sorted(LINES.glob("*.jsonl"))
        for at, row in enumerate(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    ]


def digest() -> str:
    """SHA-256 of all that the weights depend on: the lines, this program, the features."""
    parts = [*sorted(LINES.glob("*.jsonl")), Path(__file__), ROOT / "domain" / "checks" / "features.py"]
    return hashlib.sha256(b"".join(hashlib.sha256(part.read_bytes()).digest() for part in parts)).hexdigest()


def blocks(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The two kinds of features of a text."""
    text = plain(text)
    return words(text), letters(text)


def learn(texts: Sequence[tuple[frozenset[str], frozenset[str]]], attacks: Any, counts: Any) -> Model:
    """Logistic regression on all features seen often enough; what hardly weighs is left out afterwards."""
    counted = Counter((block, feature) for text in texts for block, seen in enumerate(text) for feature in seen)
    columns = {name: at for at, name in enumerate(sorted(name for name, n in counted.items() if n >= SEEN_MIN))}
    learner = LogisticRegression(
        C=STRENGTH, solver="liblinear", max_iter=1_000, class_weight="balanced", random_state=0
    )
    learner.fit(_matrix(columns, texts), attacks, sample_weight=counts)
    weighty = np.flatnonzero(np.abs(learner.coef_[0]) >= WEIGHT_MIN)
    names = list(columns)
    kept = {names[at]: new for new, at in enumerate(weighty)}
    return Model(kept, learner.coef_[0][weighty], float(learner.intercept_[0]))


def _matrix(columns: dict[tuple[int, str], int], texts: Iterable[Any]) -> Any:
    data: list[float] = []
    rows: list[int] = []
    at: list[int] = []
    number = -1
    for number, text in enumerate(texts):
        for block, seen in enumerate(text):
            known = [columns[block, feature] for feature in seen if (block, feature) in columns]
            data += [1 / np.sqrt(max(1, len(seen)))] * len(known)
            rows += [number] * len(known)
            at += known
    return csr_matrix((data, (rows, at)), shape=(number + 1, len(columns)))


def score(model: Model, texts: Iterable[str]) -> Any:
    """The score of each text, in thousandths, as the check counts it."""
    return 1_000 * (_matrix(model.columns, map(blocks, texts)) @ model.weight + model.bias)


def threshold(scores: Any, share: float) -> int:
    """The score that only this share of the scores lies above."""
    return int(np.ceil(np.quantile(scores, 1 - share)))


def thresholds(
    every: Sequence[Line], texts: Sequence[Any], attacks: Any, counts: Any
) -> tuple[dict[str, int], list[str]]:
    """The three thresholds, and a line for each source that tells how its lines fare with a model of the others."""
    honest: list[Any] = []
    parts: list[Any] = []
    rows: list[Any] = []
    caught: list[tuple[str, Any]] = []
    sources = sorted({line.source for line in every})
    for fold in range(FOLDS):
        left_out = set(sources[fold::FOLDS])
        other = np.array([line.source not in left_out for line in every])
        model = learn([text for text, keep in zip(texts, other, strict=True) if keep], attacks[other], counts[other])
        for source in sorted(left_out):
            own = [line for line in every if line.source == source]
            scores = score(model, [line.text for line in own])
            honest += [value for value, line in zip(scores, own, strict=True) if not line.attack]
            caught.append((source, scores[[line.attack for line in own]]))
            pieces = [line.text[slice(*span)] for line in own if not line.attack for span in sentences(line.text)]
            parts += list(score(model, pieces))
            rows += list(score(model, [row for line in own if not line.attack for row in line.text.splitlines()]))
    limits = {
        "entry": threshold(honest, ENTRY_FALSE),
        "sentence": threshold(parts, SENTENCE_FALSE),
        "passage": threshold(rows, PASSAGE_FALSE),
    }
    told = [f"{name}: {np.mean(s > limits['entry']):.3f} of {len(s)} attacks" for name, s in caught if len(s)]
    return limits, told


def main() -> None:
    """Learn, find the thresholds, write the weights."""
    every = lines()
    texts = [blocks(line.text) for line in every]
    attacks = np.array([line.attack for line in every])
    asks = [not line.attack and line.source.startswith(REQUESTS) for line in every]
    counts = np.where(asks, REQUESTS_WEIGH, 1.0)
    limits, told = thresholds(every, texts, attacks, counts)
    print("attacks met by a model of the other writers' lines", *told, limits, sep="\n")
    model = learn(texts, attacks, counts)
    learnt = [(name, round(1_000 * float(w))) for name, w in zip(model.columns, model.weight, strict=True)]
    kept = {
        "lines": len(every),
        "digest": digest(),
        "weights": {
            **{
                name: {feature: w for (block, feature), w in learnt if block == at and w}
                for at, name in enumerate(("words", "letters"))
            },
            "bias": round(1_000 * model.bias),
            **limits,
        },
    }
    WEIGHTS.write_text(
        json.dumps(kept, ensure_ascii=False, indent=0, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
