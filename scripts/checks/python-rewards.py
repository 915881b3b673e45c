"""By hand: the scores of a task of the templates reasoning-gym and verifiers against their packages, on 1,000 answers.

python scripts/checks/python-rewards.py TASK_FOLDER, by the Python that has the package. The package's side: the family's
dataset made again and its score_answer; verifiers' own replay of saved traces.
"""
import ast
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

folder, count = Path(sys.argv[1]).resolve(), 1000
program = "gym.py" if (folder / "gym.py").exists() else "verify.py"
sys.path.insert(0, str(folder))
records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
chance = random.Random(0)


def answer_to(record: dict) -> str:
    """Right, nearly right, in tags or not, and wrong ones."""
    right = str(record.get("answer") or record.get("task", {}).get("answer") or "42")
    words, other = right.split(), chance.choice(records)
    wrong = str(other.get("answer") or other.get("task", {}).get("answer") or "7")
    chance.shuffle(words)
    said = [right, f" {right}\n", f"So it is {right}.", wrong, " ".join(words), right[: len(right) // 2], f"{right} {right}", "", "né 数 \\boxed{1}"]
    text = chance.choice(said)
    return chance.choice([text, f"<answer>{text}</answer>", f"No: <answer>0</answer>, <answer>{text}</answer>"])


given = [(record, answer_to(record)) for record in chance.choices(records, k=count)]


def ours() -> list:
    lines = [
        json.dumps({"id": i, "record": record, "prompt": "", "completion": text, "tokens": 1, "finish": "stop"})
        for i, (record, text) in enumerate(given)
    ]
    done = subprocess.run([sys.executable, program], cwd=folder, input="\n".join(lines), capture_output=True, text=True, check=True)
    found = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    return [found[i].get("score", found[i].get("error")) for i in range(count)]


def by_gym() -> list:
    import re

    import reasoning_gym

    entries, scores = {}, []
    for record, text in given:
        family, seed, number = re.fullmatch(r"(.+)-(\d+)-(\d+)", record["id"]).groups()
        dataset = entries.setdefault(family, reasoning_gym.create_dataset(family, size=2, seed=int(seed)))
        found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
        entry = {**record, "metadata": ast.literal_eval(record["metadata"])}
        scores.append(float(dataset.score_answer((found[-1] if found else text).strip(), entry)))
    return scores


def by_verifiers() -> list:
    import verifiers.v1 as vf
    from verifiers.v1.cli.replay import run_replay
    from verifiers.v1.configs.cli.replay import ReplayConfig
    from verifiers.v1.utils.loaders import taskset_config_type
    from verifiers.v1.utils.trace_store import append_trace

    environment, fields = records[0]["environment"], records[0]["config"]
    config = taskset_config_type(environment)(id=environment, **fields)
    source, out = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    saved = source / "configs" / "resolved" / "eval.json"
    saved.parent.mkdir(parents=True)
    saved.write_text(json.dumps({"env": {"taskset": {"id": environment}}}))

    async def save() -> None:
        lock = asyncio.Lock()
        for record, text in given:
            said = [vf.UserMessage(content=record["messages"][-1]["content"]), vf.AssistantMessage(content=text)]
            trace = vf.Trace(
                task=vf.TraceTask(type=vf.task_type(environment).__name__, data=vf.WireTaskData(**record["task"])),
                agent=vf.AgentInfo(config=vf.AgentConfig()),
                nodes=[vf.MessageNode(message=said[0]), vf.MessageNode(parent=0, message=said[1], sampled=True)],
                is_completed=True,
                ok=True,
            )
            await append_trace(source, trace, lock)

    asyncio.run(save())
    replay = ReplayConfig(taskset=config, rich=False, output_dir=out)
    return [trace.reward for trace in asyncio.run(run_replay(replay, source, out))]


os.chdir(folder)
mine, theirs = ours(), by_gym() if program == "gym.py" else by_verifiers()
different = [(text, a, b) for (_, text), a, b in zip(given, mine, theirs) if not (isinstance(a, float) and abs(a - b) < 1e-12)]
print(f"{count} answers, {len(set(map(str, mine)))} different scores from {min(theirs)} to {max(theirs)}; {len(different)} differ from the package")
for one in different[:5]:
    print(one)
sys.exit(1 if different else 0)
