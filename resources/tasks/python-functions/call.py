"""Calls a reward function of another trainer: python3 call.py FILE FUNCTION [text].

What it is called with follows from its parameters:
- completions: TRL, Unsloth, Open-R1: f(prompts, completions, **columns); ms-swift: a class with such a __call__. Lists
  with one entry, messages of a chat; with `text` at the end of the command, texts. The record's fields are the columns.
- solution_str: verl: f(data_source, solution_str, ground_truth, extra_info), of the fields of these names.
- queries: OpenRLHF: f(queries, prompts, labels), with the field `label`.

Each completion is scored alone: a function that compares those of a group can't be called so. Token ids
(completion_ids) and trainer_state aren't here. None, a function that doesn't apply, counts as 0, as in TRL's sum.
"""

import asyncio
import importlib.util
import inspect
import json
import os
import sys

# What the functions print is no answer.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

file, name, *how = sys.argv[1:]
spec = importlib.util.spec_from_file_location("rewards", os.path.abspath(file))
module = importlib.util.module_from_spec(spec)
sys.modules["rewards"] = module
spec.loader.exec_module(module)
if not hasattr(module, name):
    sys.exit(f"{file} has no function {name}")
function = getattr(module, name)
if inspect.isclass(function):
    function = function()
parameters = inspect.signature(function).parameters
takes_rest = any(one.kind is one.VAR_KEYWORD for one in parameters.values())


def called(given: dict):
    """What the function gives for these arguments, without those that it has no place for."""
    if not takes_rest:
        given = {key: value for key, value in given.items() if key in parameters}
    result = function(**given)
    return asyncio.run(result) if inspect.isawaitable(result) else result


def field(record: dict, name: str):
    if name not in record:
        raise ValueError(f"the function needs a field {name}, which the task's records lack")
    return record[name]


def score(answer: dict) -> float:
    record, prompt, completion = answer["record"], answer["prompt"], answer["completion"]
    if "solution_str" in parameters:
        given = {key: record.get(key) for key in ("data_source", "extra_info")}
        result = called({**given, "solution_str": completion, "ground_truth": field(record, "ground_truth")})
        return result["score"] if isinstance(result, dict) else result
    if "queries" in parameters:
        label = field(record, "label") if "labels" in parameters else None
        result = called({"queries": [prompt + completion], "prompts": [prompt], "labels": [label]})
        return (result["rewards"] if isinstance(result, dict) else result)[0]
    asked, said = prompt, completion
    if "text" not in how:
        asked = record.get("messages") or [{"role": "user", "content": prompt}]
        said = answer.get("messages") or [{"role": "assistant", "content": completion}]
    columns = {key: [value] for key, value in record.items() if key != "messages"}
    unheard = {key: lambda *_: None for key in ("log_extra", "log_metric")}
    return called({**columns, **unheard, "prompts": [asked], "completions": [said]})[0]


for line in sys.stdin:
    answer = json.loads(line)
    try:
        value = score(answer)
        result = {"id": answer["id"], "score": 0.0 if value is None else float(value)}
    except Exception as error:  # this completion fails, with the reason; the others are scored
        hint = "" if how or "argument" in str(error) else " (a function that takes completions as texts needs `text` at the end of the command)"
        wrong = f"{type(error).__name__}: {error}{hint if isinstance(error, (AttributeError, TypeError)) else ''}"
        result = {"id": answer["id"], "error": wrong}
    print(json.dumps(result), file=answers, flush=True)
