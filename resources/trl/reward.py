"""
Braid's own reward for TRL. A Node process of Braid scores the completions: one JSON object a line, in and out. It
starts with the first batch and ends with this program. Braid and Node are found where the folder was exported;
elsewhere, set BRAID_HOME to Braid's folder and, if "node" isn't the right one, BRAID_NODE to Node 22.18 or newer.
"""

import atexit
import json
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def existing(path: str | None) -> str | None:
    return path if path and os.path.exists(path) else None


def find_braid(exported: dict) -> tuple[str, str]:
    """The Node program and Braid's entry file; raises with what to do where one is missing."""
    home = os.environ.get("BRAID_HOME") or existing(exported["home"])
    if home is None:
        raise RuntimeError("Braid isn't on this machine: install it (npm ci), then set BRAID_HOME to its folder.")
    entry = os.path.join(home, "main", "braid.ts")
    if not os.path.exists(entry):
        raise RuntimeError(f"BRAID_HOME is {home}, but {entry} doesn't exist: set it to the folder of Braid.")
    own = os.path.join(home, "node_modules", ".bin", "node")
    wanted = os.environ.get("BRAID_NODE")
    node = shutil.which(wanted) if wanted else existing(exported["node"]) or existing(own) or shutil.which("node")
    if node is None:
        raise RuntimeError(
            f"Node is missing{f' at {wanted} (BRAID_NODE)' if wanted else ''}: the reward is computed by Braid in Node. "
            "Install Node 22.18 or newer, or set BRAID_NODE to its path."
        )
    return node, entry


class RewardProcess:
    """One process of `braid task serve-reward`, and the scores of the newest batch."""

    def __init__(self, folder: Path, settings: dict):
        self.folder = folder
        self.settings = settings
        self.process = None
        self.batch = None
        self.answer = None

    def start(self) -> None:
        node, entry = find_braid(self.settings["braid"])
        command = [node, entry, "task", "serve-reward", str(self.folder)]
        # Its messages appear among those of the training.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        atexit.register(self.close)

    def ask(self, request: dict) -> dict:
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line == "":
            raise RuntimeError(f"Braid's reward process ended (exit code {self.process.wait()}): see its message above.")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def score(self, completions, completion_ids, record, split, id, log_extra, log_metric, stop_ids) -> list[dict]:
        """Components of each completion. TRL calls each reward function with the same batch: it is scored once."""
        if self.batch is completions:
            return self.answer["scores"]
        finishes = ["stop" if ids and ids[-1] in stop_ids else "length" for ids in completion_ids]
        tokens = [len(ids) for ids in completion_ids]
        answers = [
            {"record": json.loads(r), "completion": c, "tokens": t, "finish": f}
            for r, c, t, f in zip(record, completions, tokens, finishes, strict=True)
        ]
        self.answer = self.ask({"answers": answers})
        self.batch = completions
        log_extra("record_id", list(id))
        log_extra("split", list(split))
        log_extra("tokens", tokens)
        log_extra("finish", finishes)
        log_extra("failure", self.answer["failures"])
        for name, value in self.answer["metrics"].items():
            if value is not None:
                log_metric(name, value)
        return self.answer["scores"]

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=10)


def reward_functions(settings: dict, stop_ids: set[int]) -> list:
    """One function for each component, named as in Braid, so that TRL's metrics have Braid's names."""
    process = RewardProcess(HERE, settings)

    def component(name: str):
        def reward(completions, completion_ids, record, split, id, log_extra, log_metric, **_):
            scores = process.score(completions, completion_ids, record, split, id, log_extra, log_metric, stop_ids)
            return [score[name] for score in scores]

        reward.__name__ = name
        return reward

    return [component(name) for name in settings["rewards"]]
