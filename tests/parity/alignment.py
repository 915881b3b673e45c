"""Makes fixtures/alignment.json: random word pairs with their optimal Needleman-Wunsch score and the most matches
among optimal alignments, both by Biopython (pip install biopython). Words are single letters, one string a side.

Run from the repository root: python tests/parity/alignment.py
"""

import json
import pathlib
import random

from Bio.Align import PairwiseAligner

# Small against 1 for any match count here, and exact in binary: a match then breaks ties without ever buying a gap.
EPSILON = 2.0**-12


def aligner(match: float) -> PairwiseAligner:
    made = PairwiseAligner(mode="global", match_score=match, mismatch_score=-1)
    made.gap_score = -1
    return made


def edited(rng: random.Random, word: str, letters: str) -> str:
    """A copy with letters dropped, doubled and replaced: what a half-trained model writes."""
    out = []
    for letter in word:
        draw = rng.random()
        if draw < 0.1:
            continue
        out.append(rng.choice(letters) if draw < 0.2 else letter)
        if draw > 0.9:
            out.append(letter)
    return "".join(out) or "a"


def main() -> None:
    rng = random.Random(2)
    plain, tied = aligner(1), aligner(1 + EPSILON)
    pairs = []
    for index in range(3000):
        letters = "abcdefghijklmnopqrstuvwxyz"[: rng.choice([2, 3, 5, 12, 26])]
        length = rng.randint(1, 30) if index % 100 else rng.randint(200, 400)
        a = "".join(rng.choice(letters) for _ in range(length))
        b = edited(rng, a, letters) if index % 2 else "".join(rng.choice(letters) for _ in range(rng.randint(1, 30)))
        score = plain.score(a, b)
        matched = (tied.score(a, b) - score) / EPSILON
        assert score == int(score) and matched == int(matched)
        pairs.append([a, b, int(score), int(matched)])
    target = pathlib.Path(__file__).parent / "fixtures" / "alignment.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(pairs, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
