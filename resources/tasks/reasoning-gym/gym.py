"""Records and scores of reasoning-gym (python3 -m pip install reasoning-gym==0.1.25).

`gym.py make` reads settings as JSON and prints records: family, level (of the family's curriculum), size, test_size,
seed, and any field of the family's configuration. Without an argument it scores completions: one JSON object a line in,
one a line out, with the same id.
"""

import ast
import json
import os
import re
import sys

# What a family or a program of its prints is no answer.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

try:
    import reasoning_gym
    from reasoning_gym.factory import CURRICULA, DATASETS, create_curriculum
except ImportError:
    sys.exit("reasoning-gym isn't installed for this Python: python3 -m pip install reasoning-gym==0.1.25")

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
scorers = {}


def score(record: dict, completion: str) -> float:
    """The package's score of what stands in the last <answer>, or of the whole text; 0 to 1."""
    key = (record["family"], record.get("configuration", "{}"))
    if key not in scorers:
        family, settings = key[0], json.loads(key[1])
        made = configuration(family, settings.pop("level", None), 1, 0, settings)
        scorers[key] = reasoning_gym.create_dataset(family, **made).score_answer
    found = ANSWER.findall(completion)
    metadata = ast.literal_eval(record["metadata"])
    entry = {"question": record["question"], "answer": record["answer"], "metadata": metadata}
    return float(scorers[key]((found[-1] if found else completion).strip(), entry))


def configuration(family: str, level: int | None, size: int, seed: int, fields: dict) -> dict:
    """The fields of a family's configuration; a level, from 0, is that of its curriculum, its highest where it has fewer."""
    if level is None:
        return {"size": size, "seed": seed, **fields}
    if family not in CURRICULA:
        sys.exit(f"{family} has no curriculum: leave level out")
    curriculum = create_curriculum(family)
    curriculum.set_global_level(level)
    made = curriculum.generate_configuration({"size": size, "seed": seed})
    return {**vars(made), **fields}


def literal(value):
    """A value of Python's literals alone."""
    if isinstance(value, dict):
        return {literal(key): literal(part) for key, part in value.items()}
    if type(value) in (list, tuple, set):
        return type(value)(literal(part) for part in value)
    if value is None or type(value) in (bool, int, str) or (type(value) is float and abs(value) < float("inf")):
        return value
    return str(value)


def records(family: str, level: int | None, size: int, seed: int, fields: dict) -> list:
    dataset = reasoning_gym.create_dataset(family, **configuration(family, level, size, seed, fields))
    return [
        {
            "id": f"{family}-{seed}-{i}",
            "question": entry["question"],
            # Some families have many right answers, and name one or none.
            "answer": str(entry["answer"] if entry["answer"] is not None else ""),
            "family": family,
            "configuration": json.dumps({**({} if level is None else {"level": level}), **fields}),
            # As Python writes it: JSON has no tuples, which some scorers compare, and rounds long whole numbers.
            "metadata": repr(literal(entry["metadata"])),
        }
        for i, entry in enumerate(dataset)
    ]


def plain(text: str):
    """A setting's value: numbers, true and lists are written as JSON, other texts as they are."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def held_apart(train: list, test: list, test_size: int) -> tuple:
    """The training records, and held-out ones of other questions: at most a quarter of a family's few questions."""
    new = {record["question"]: record for record in [*train, *test]}
    asked = {record["question"] for record in train}
    unseen = [record for question, record in new.items() if question not in asked]
    short = min(test_size, len(new) // 4) - len(unseen)
    if short <= 0:
        return train, unseen[:test_size]
    held_out = [*unseen, *[new[question] for question in list(dict.fromkeys(r["question"] for r in train))[-short:]]]
    kept = {record["question"] for record in held_out}
    return [record for record in train if record["question"] not in kept], held_out


def make(settings: dict) -> dict:
    family = settings.pop("family", "chain_sum")
    if family not in DATASETS:
        sys.exit(f"There is no family {family}. There are: {', '.join(sorted(DATASETS))}")
    level, seed = settings.pop("level", None), int(settings.pop("seed", 42))
    level = None if level is None else int(level)
    size, test_size = int(settings.pop("size", 500)), int(settings.pop("test_size", 64))
    try:
        settings = {name: plain(text) for name, text in settings.items()}
        train = records(family, level, size, seed, settings)
        test = records(family, level, 2 * test_size, seed + 1_000_003, settings)
    except (TypeError, AssertionError, ValueError, LookupError) as error:
        sys.exit(f"{family} can't be made with these settings: {type(error).__name__}: {error}")
    train, held_out = held_apart(train, test, test_size)
    examples = [
        {"record": record, "completion": f"So it is <answer>{record['answer']}</answer>", "reward": 1}
        for record in train
        if record["answer"] and score(record, record["answer"]) == 1
    ][:4]
    return {"records.jsonl": train, "records.test.jsonl": held_out, "examples.jsonl": examples}


if sys.argv[1:] == ["make"]:
    print(json.dumps(make(json.load(sys.stdin)), default=str), file=answers)
    sys.exit()

for line in sys.stdin:
    answer = json.loads(line)
    try:
        result = {"id": answer["id"], "score": score(answer["record"], answer["completion"])}
    except Exception as error:  # this completion fails, with the reason; the others are scored
        result = {"id": answer["id"], "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), file=answers, flush=True)
