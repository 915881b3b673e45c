"""By hand: an address of `braid serve-model` against transformers, with the packages that users have.

pip install torch transformers openai==2.54.0 lm-eval==0.4.13 verifiers==0.4.0 uv
python scripts/checks/serve-model.py MODEL_FOLDER http://127.0.0.1:PORT/v1 KEY [chat|lm-eval|clients|bodies|verifiers ...]
"""
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import torch
from openai import APIStatusError, AsyncOpenAI, AuthenticationError, OpenAI
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, address, key, *parts = sys.argv[1:]
name = OpenAI(base_url=address, api_key=key).models.list().data[0].id
CHATS = ["What is the capital of France?", "Name three colours.", "Write one sentence about the sea."]


def chat():
    """Greedy text and log-probabilities, token by token."""
    client = OpenAI(base_url=address, api_key=key)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32).eval()
    for said in CHATS:
        messages = [{"role": "user", "content": said}]
        got = client.chat.completions.create(model=name, messages=messages, temperature=0, max_tokens=24, logprobs=True, top_logprobs=3)
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
        out = model.generate(**prompt, do_sample=False, max_new_tokens=24, output_logits=True, return_dict_in_generate=True)
        ids = out.sequences[0, prompt["input_ids"].shape[1] :]
        expected = [torch.log_softmax(logits[0].float(), -1)[token].item() for logits, token in zip(out.logits, ids)]
        text = tokenizer.decode(ids, skip_special_tokens=True)
        choice = got.choices[0]
        ours = [token.logprob for token in choice.logprobs.content]
        worst = max(abs(a - b) for a, b in zip(ours, expected))
        same = choice.message.content == text and len(ours) == len(expected)
        print(f"{'equal' if same else 'DIFFERENT'}: {text!r}; log-probabilities differ by at most {worst:.1e}")
        assert same and worst < 1e-3


def tasks(where):
    """Two small tasks: choices by log-likelihood, and a text until a stop string."""
    places = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Japan", "Tokyo"), ("Egypt", "Cairo"), ("Peru", "Lima")]
    rows = [{"q": f"The capital of {c} is", "choices": [f" {w}" for _, w in places[:4]], "gold": min(i, 3), "answer": w} for i, (c, w) in enumerate(places)]
    (where / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(where / "rows.jsonl")}}, "test_split": "test", "doc_to_text": "{{q}}"}
    (where / "choice.yaml").write_text(json.dumps({**data, "task": "own_choice", "output_type": "multiple_choice", "doc_to_choice": "{{choices}}", "doc_to_target": "{{gold}}", "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]}))
    (where / "until.yaml").write_text(json.dumps({**data, "task": "own_until", "output_type": "generate_until", "doc_to_target": "{{answer}}", "generation_kwargs": {"until": [".", "\n"], "max_gen_toks": 12, "do_sample": False, "temperature": 0}, "metric_list": [{"metric": "exact_match"}]}))


def lm_eval():
    """The same scores at the address and by transformers."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    os.environ["OPENAI_API_KEY"] = key
    with tempfile.TemporaryDirectory() as where:
        tasks(Path(where))
        manager = TaskManager(include_path=where, include_defaults=False)
        both = [
            simple_evaluate(model=model, model_args=args, tasks=["own_choice", "own_until"], task_manager=manager, batch_size=1, log_samples=True)
            for model, args in [
                ("local-completions", f"model={name},base_url={address}/completions,tokenizer={folder},num_concurrent=4,max_retries=1"),
                ("hf", f"pretrained={folder},dtype=float32,device=cpu"),
            ]
        ]
    ours, theirs = [{task: {k: v for k, v in scores.items() if "," in k and "stderr" not in k} for task, scores in one["results"].items()} for one in both]
    print(ours, theirs, sep="\n")
    pairs = zip(*(one["samples"]["own_choice"] for one in both))
    worst = max(abs(a[0] - b[0]) for one, other in pairs for a, b in zip(one["filtered_resps"], other["filtered_resps"]))
    texts = [[s["filtered_resps"] for s in one["samples"]["own_until"]] for one in both]
    print(f"log-likelihoods differ by at most {worst:.1e}; texts {'equal' if texts[0] == texts[1] else 'DIFFERENT'}")
    assert ours == theirs and texts[0] == texts[1]


def clients():
    """32 at once give what each gives alone; one that goes away, and a wrong key."""

    async def all_of_them():
        client = AsyncOpenAI(base_url=address, api_key=key, timeout=1800, max_retries=0)

        async def ask(i):
            got = await client.chat.completions.create(model=name, messages=[{"role": "user", "content": CHATS[i % 3]}], seed=i, max_tokens=8 + i % 5, temperature=0.7)
            return got.choices[0].message.content

        stream = await client.chat.completions.create(model=name, messages=[{"role": "user", "content": CHATS[0]}], stream=True, max_tokens=400)
        async for _ in stream:
            break
        await stream.close()
        together = await asyncio.gather(*(ask(i) for i in range(32)))
        for i in (0, 7, 19):
            assert await ask(i) == together[i], (i, together[i])
        print(f"{len(together)} at once, three asked again alone: equal")

    asyncio.run(all_of_them())
    try:
        OpenAI(base_url=address, api_key="wrong", max_retries=0).models.list()
    except AuthenticationError as error:
        print("wrong key:", error.message)
    try:
        OpenAI(base_url=address, api_key=key).chat.completions.create(model=name, messages=[{"role": "user", "content": "x " * 20000}], max_tokens=5)
    except APIStatusError as error:
        print(error.status_code, error.message)


def bodies():
    """Bodies of wrong forms: each is refused as OpenAI does, and the next request is answered."""
    user = {"role": "user", "content": "Hi"}
    good = {"model": name, "messages": [user], "max_tokens": 2}
    wrong = [
        b"",
        b"{",
        b"\xff\xfe",
        *([], 7, None, {}, {"model": name}, {**good, "model": "other"}),
        *({**good, "messages": given} for given in ([], "Hi", [7], [{}], [{"role": "usr", "content": "Hi"}], [{"role": "user"}])),
        *({**good, "messages": [{"role": "user", "content": given}]} for given in (7, [7], [{"type": "image_url", "image_url": {"url": "x"}}])),
        *({**good, field: value} for field, value in [("max_tokens", -1), ("max_tokens", "2"), ("temperature", 9), ("temperature", "hot"), ("top_p", 2), ("n", 0), ("n", 1.5), ("seed", "x"), ("stream", "yes"), ("stop", 7), ("stop", [""]), ("top_logprobs", 99), ("tools", {}), ("tools", [{"type": "function"}])]),
    ]
    for body in wrong:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        got = httpx.post(f"{address}/chat/completions", content=content, headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
        assert 400 <= got.status_code < 500 and got.json()["error"]["message"], (body, got.status_code, got.text)
    assert OpenAI(base_url=address, api_key=key).chat.completions.create(**good).choices[0].message.content is not None
    print(f"{len(wrong)} wrong bodies refused, each with a reason")


TASKSET = '''import verifiers.v1 as vf


class CapitalsData(vf.TaskData):
    answer: str


class CapitalsTask(vf.Task[CapitalsData]):
    @vf.reward(weight=1.0)
    async def says_it(self, trace: vf.Trace) -> float:
        return float(self.data.answer in trace.last_reply)


class CapitalsTaskset(vf.Taskset[CapitalsTask, vf.TasksetConfig]):
    def load(self) -> list[CapitalsTask]:
        rows = %r
        return [CapitalsTask(CapitalsData(idx=i, prompt=p, answer=a), self.config.task) for i, (p, a) in enumerate(rows)]
'''


def verifiers():
    """An environment of verifiers, evaluated at the address, gives the rewards of transformers' greedy answers."""
    rows = [("What is the capital of France?", "Paris"), ("What is the capital of Peru?", "Quito"), ("What is the capital of Japan?", "Tokyo"), ("What is two plus two?", "4")]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    expected = []
    for prompt, answer in rows:
        ids = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True, return_tensors="pt", return_dict=True)
        out = model.generate(**ids, do_sample=False, max_new_tokens=24)[0, ids["input_ids"].shape[1] :]
        expected.append(float(answer in tokenizer.decode(out, skip_special_tokens=True)))
    with tempfile.TemporaryDirectory() as where:
        package = Path(where) / "capitals_v1"
        package.mkdir()
        (package / "__init__.py").write_text("from capitals_v1.taskset import CapitalsTaskset\n\n__all__ = ['CapitalsTaskset']\n")
        (package / "taskset.py").write_text(TASKSET % (rows,))
        asked = ["-m", name, "--client.base-url", address, "--client.api-key-var", "BRAID_KEY", "--sampling.temperature", "0", "--sampling.max-tokens", "24"]
        agent = ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "--no-push", "--rich", "None", "-o", f"{where}/out"]
        command = "import sys; from verifiers.v1.cli.eval.main import main; sys.exit(main())"
        subprocess.run([sys.executable, "-c", command, "capitals-v1", *asked, *agent], check=True, env={**os.environ, "PYTHONPATH": where, "BRAID_KEY": key}, stdout=subprocess.DEVNULL)
        episodes = [json.loads(line) for file in Path(where, "out").rglob("traces.jsonl") for line in file.read_text().splitlines()]
    found = {one["task"]["data"]["prompt"]: one["traces"][0]["rewards"]["says_it"]["score"] for one in episodes}
    ours = [found[prompt] for prompt, _ in rows]
    print(f"verifiers: rewards {ours} at the address, {expected} by transformers")
    assert ours == expected


for part in parts or ["chat", "lm-eval", "clients", "bodies", "verifiers"]:
    {"chat": chat, "lm-eval": lm_eval, "clients": clients, "bodies": bodies, "verifiers": verifiers}[part]()
