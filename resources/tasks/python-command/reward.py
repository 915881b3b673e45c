"""Scores completions: one JSON object a line in, one a line out, with the same id and in any order.

Braid starts this once and keeps it: load models at the top. Print nothing else to stdout; messages go to stderr.
"""

import json
import sys
from difflib import SequenceMatcher


def score(record: dict, completion: str) -> float:
    """How similar the completion is to the text, 0 to 1."""
    return SequenceMatcher(None, record["text"].strip(), completion.strip(), autojunk=False).ratio()


for line in sys.stdin:
    answer = json.loads(line)  # id, record, prompt, completion, tokens, finish
    try:
        result = {"id": answer["id"], "score": score(answer["record"], answer["completion"])}
    except Exception as error:  # this completion fails, with the reason; the others are scored
        result = {"id": answer["id"], "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), flush=True)
