"""Calls a reward function of another trainer: python3 call.py FILE FUNCTION [text].

What it is called with follows from its parameters:
- completions: TRL, Unsloth, Open-R1: f(prompts, completions, **columns); ms-swift: a class with such a __call__. Lists
  with one entry, messages of a chat; with `text` at the end of the command, texts. The record's fields are the columns.
- solution_str: verl: f(data_source, solution_str, ground_truth, extra_info), of the fields of these names; or lists of
  them, in the plural, as its batch manager calls it.
- queries: OpenRLHF: f(queries, prompts, labels), with the field `label`.

Each completion is scored alone; with `group: true` beside the command in task.yaml a function gets all completions of a
prompt at once, and can compare them. Token ids (completion_ids) and trainer_state aren't here. None, a function that
doesn't apply, counts as 0, as in TRL's sum.
"""

import asyncio
import importlib.util
import inspect
import json
import os
import sys

# What the functions print is no answer, and what they read, or a program that they start, is no completion.
asked_for = os.fdopen(os.dup(0), encoding="utf-8")
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
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
loop = asyncio.new_event_loop()  # one for all calls: clients that a module keeps belong to theirs


def called(given: dict):
    """What the function gives for these arguments, without those that it has no place for."""
    if not takes_rest:
        given = {key: value for key, value in given.items() if key in parameters}
    result = function(**given)
    return loop.run_until_complete(result) if inspect.isawaitable(result) else result


def one_each(results, count: int) -> list:
    """The results, which are to be so many numbers."""
    if isinstance(results, str) or len(results) != count:
        numbers = "one number" if count == 1 else f"{count} numbers"
        raise ValueError(f"expected a list with {numbers}, got {results!r}"[:200])
    return list(results)


def field(record: dict, name: str):
    if name not in record:
        raise ValueError(f"the function needs a field {name}, which the task's records lack")
    return record[name]


def scores(record: dict, prompt: str, written: list) -> list:
    """What the function gives for these completions of a prompt."""
    texts, count = [one["completion"] for one in written], len(written)
    if "solution_str" in parameters or "solution_strs" in parameters:
        columns = {key: record.get(key) for key in ("data_source", "extra_info")}
        columns["ground_truth"] = field(record, "ground_truth")
        if "solution_strs" in parameters:
            lists = {f"{key}s": [value] * count for key, value in columns.items()}
            results = called({**lists, "solution_strs": texts})
        else:
            results = [called({**columns, "solution_str": text}) for text in texts]
        return [one["score"] if isinstance(one, dict) else one for one in results]
    if "queries" in parameters:
        label = field(record, "label") if "labels" in parameters else None
        queries = [prompt + text for text in texts]
        result = called({"queries": queries, "prompts": [prompt] * count, "labels": [label] * count})
        return result["rewards"] if isinstance(result, dict) else result
    asked, said = prompt, texts
    if "text" not in how:
        asked = record.get("messages") or [{"role": "user", "content": prompt}]
        said = [one.get("messages") or [{"role": "assistant", "content": one["completion"]}] for one in written]
    columns = {key: [value] * count for key, value in record.items() if key != "messages"}
    unheard = {key: lambda *_: None for key in ("log_extra", "log_metric")}
    return called({**columns, **unheard, "prompts": [asked] * count, "completions": said})


def score(answer: dict):
    global newest
    asked = answer["record"], answer["prompt"], answer.get("group", [answer])
    if "group" not in answer or newest[0] != asked:  # the completions of a group come one after the other
        newest = asked, one_each(scores(*asked), len(asked[2]))
    return newest[1][answer.get("place", 0)]


newest: tuple = (None, [])
for line in asked_for:
    answer = json.loads(line)
    try:
        value = score(answer)
        result = {"id": answer["id"], "score": 0.0 if value is None else float(value)}
    except (Exception, SystemExit) as error:  # this completion fails, with the reason; the others are scored
        hint = "" if how or "argument" in str(error) else " (a function that takes completions as texts needs `text` at the end of the command)"
        wrong = f"{type(error).__name__}: {error}{hint if isinstance(error, (AttributeError, TypeError)) else ''}"
        result = {"id": answer["id"], "error": wrong}
    print(json.dumps(result), file=answers, flush=True)
