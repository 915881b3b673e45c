"""Records and rewards of a verifiers environment (python3 -m pip install verifiers==0.4.0, and the environment's package).

`verify.py make` reads settings as JSON and prints records: environment, size, test_size, seed, and any field of the
environment's configuration. Without an argument it scores completions: one JSON object a line in, one a line out, with the
same id. The environment is a package that exports a Taskset, or a file like second_text.py beside this one.
"""

import asyncio
import inspect
import itertools
import json
import os
import sys

try:
    import verifiers.v1 as vf
    from verifiers.v1.state import state_cls
    from verifiers.v1.utils.loaders import environment_class, taskset_class, taskset_config_type
except ImportError as error:
    sys.exit(f"verifiers isn't installed for this Python ({error}): python3 -m pip install verifiers==0.4.0")

# What an environment or a program of its prints is no answer, and what one reads no completion.
asked_for = os.fdopen(os.dup(0), encoding="utf-8")
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
loop = asyncio.new_event_loop()  # one for all completions: clients that an environment keeps belong to theirs
opened = {}


def open_taskset(environment: str, fields: dict):
    """The environment's tasks, once; ends the program where only its own agent could play them."""
    key = json.dumps([environment, fields], sort_keys=True)
    if key not in opened:
        try:
            taskset = taskset_class(environment)(taskset_config_type(environment)(id=environment, **fields))
        except ModuleNotFoundError as error:
            missing = (error.__cause__ or error).name
            own = environment.rsplit("/", 1)[-1].split("@")[0].replace("-", "_").lower()
            if missing != own:
                raise SystemExit(f"{environment} needs {missing}: python3 -m pip install {missing}") from None
            how = f"prime env install {environment}" if "/" in environment else f"python3 -m pip install {environment}"
            raise SystemExit(f"The environment {environment} isn't installed for this Python: {how}") from None
        kind = type(taskset).task_type()
        tools = [*type(taskset).toolsets(taskset.config), *kind.toolsets(taskset.config.task)]
        if environment_class(environment) is not vf.SingleAgentEnv or tools or kind.NEEDS_CONTAINER:
            raise SystemExit(f"{environment} plays its conversations itself or runs tools; Braid scores single answers")
        opened[key] = (taskset, kind)
    return opened[key]


def conversation(data) -> list:
    """The messages that the model is given."""
    system = [] if data.system_prompt is None else [vf.SystemMessage(content=data.system_prompt)]
    if data.prompt is None:
        raise SystemExit("the environment's tasks have no prompt: its user opens the conversation")
    return system + ([vf.UserMessage(content=data.prompt)] if isinstance(data.prompt, str) else list(data.prompt))


def score(record: dict, completion: str, finish: str) -> float:
    """The sum of the environment's rewards by their weights, as its own evaluation gives it."""
    taskset, kind = open_taskset(record["environment"], record["config"])
    task = kind(kind.data_type().model_validate(record["task"]), taskset.config.task)
    needing = [
        reward.__name__
        for reward in task.hooks("reward")
        if (runtime := inspect.signature(reward).parameters.get("runtime")) and runtime.default is runtime.empty
    ]
    if needing:
        raise ValueError(f"{', '.join(needing)} needs a runtime, which Braid doesn't start")
    messages = [*conversation(task.data), vf.AssistantMessage(content=completion)]
    last = len(messages) - 1
    trace = vf.Trace(
        task=vf.TraceTask(type=kind.__name__, data=task.data, key=task.key, hash=task.hash),
        state=state_cls(kind)(),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[
            vf.MessageNode(parent=i - 1 if i else None, message=message, sampled=i == last)
            for i, message in enumerate(messages)
        ],
        calls=[vf.ModelCall(node=last, finish_reason=finish)],
        is_completed=True,
        ok=True,
    )
    loop.run_until_complete(task.score(trace))
    if not trace.rewards:
        raise ValueError("the environment gives no reward")
    return float(trace.reward)


def record_of(task, environment: str, fields: dict, number: int) -> dict:
    messages = [{"role": message.role, "content": message.content} for message in conversation(task.data)]
    if not all(isinstance(message["content"], str) for message in messages):
        raise SystemExit(f"{environment} asks with images; Braid's models read texts")
    data = task.data.model_dump(mode="json", exclude_defaults=True)
    return {
        "id": f"{environment}-{number}",
        "messages": messages,
        "environment": environment,
        "config": fields,
        "task": data,
    }


def plain(text: str):
    """A setting's value: numbers, true and lists are written as JSON, other texts as they are."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def make(settings: dict) -> dict:
    environment = settings.pop("environment", "second_text")
    size, test_size = int(settings.pop("size", 500)), int(settings.pop("test_size", 64))
    seed = int(settings.pop("seed", 42))
    fields = {name: plain(text) for name, text in settings.items()}
    try:
        taskset, _ = open_taskset(environment, fields)
        tasks = list(itertools.islice(taskset.shuffle(seed) if taskset.bounded else taskset, size + test_size))
    except (TypeError, ValueError) as error:
        sys.exit(f"{environment} can't be opened with these settings: {' '.join(str(error).split()).split(' [type=')[0]}")
    records = [record_of(task, environment, fields, number) for number, task in enumerate(tasks)]
    # One with fewer tasks is divided in the same way.
    first = len(records) - round(len(records) * test_size / (size + test_size))
    train, test = records[:first], records[first:]
    # What nothing is worth: the check of the task shows whether the environment still says so.
    examples = [{"record": record, "completion": "", "reward": score(record, "", "stop")} for record in train[:4]]
    return {"records.jsonl": train, "records.test.jsonl": test, "examples.jsonl": examples}


if sys.argv[1:] == ["make"]:
    print(json.dumps(make(json.load(asked_for))), file=answers)
    sys.exit()

for line in asked_for:
    given = json.loads(line)
    try:
        result = {"id": given["id"], "score": score(given["record"], given["completion"], given["finish"])}
    except (Exception, SystemExit) as error:  # this completion fails, with the reason; the others are scored
        result = {"id": given["id"], "error": f"{type(error).__name__}: {error}".removeprefix("SystemExit: ")}
    print(json.dumps(result), file=answers, flush=True)
