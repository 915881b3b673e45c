"""Makes fixtures/adapters/ and adapters.json: PEFT adapters on the folders of models.py, with the log-probabilities
and greedy tokens that PEFT gives them. With --check FOLDER it goes the other way: FOLDER, written by
write-adapters.ts, holds our adapters and merged models, which must load in PEFT and transformers and give our values.

Run from the repository root: python tests/parity/lora.py [--check FOLDER]   (pip install torch transformers peft)
"""

import argparse
import json
import pathlib
import random
import shutil

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from reference import completion_logps, greedy
from transformers import AutoModelForCausalLM

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# name: base model, settings of the adapter
CASES = {
    "lora-all-linear": ("llama-untied-f32", dict(r=4, lora_alpha=8, target_modules="all-linear")),
    "rslora-qv": ("qwen2-tied-f32", dict(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], use_rslora=True)),
    "lora-regex": ("qwen3-tied-f32", dict(r=2, lora_alpha=5, target_modules=r".*\.layers\.1\..*(up|down|o)_proj")),
    "lora-first-layer": ("llama-untied-f32", dict(r=4, lora_alpha=4, target_modules=ALL, layers_to_transform=[0])),
    "lora-patterns": (
        "llama-untied-f32",
        dict(r=4, lora_alpha=8, target_modules=["q_proj", "down_proj"],
             rank_pattern={"layers.1.mlp.down_proj": 2, "q_proj": 3}, alpha_pattern={r"layers\.\d\.mlp\..*": 5}),
    ),
}


def base_model(name: str):
    return AutoModelForCausalLM.from_pretrained(FIXTURES / "models" / name, dtype=torch.float32).eval()


def make(name: str, base: str, settings: dict, seed: int) -> dict:
    torch.manual_seed(seed)
    model = get_peft_model(base_model(base), LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, **settings)).eval()
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if "lora_B" in key:
                weight.normal_(0, 0.3)
    folder = FIXTURES / "adapters" / name
    # A relative base path: a fixture must not name the machine that made it.
    model.peft_config["default"].base_model_name_or_path = base
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    rng = random.Random(seed)
    rows = lambda *lengths: [[rng.randrange(3, 96) for _ in range(n)] for n in lengths]
    prompts, completions = rows(7, 2, 20), rows(5, 12, 30)
    generated, lead = greedy(model, prompts, [2], 24)
    assert lead > 1e-4, "take another seed"
    return dict(name=name, base=base, prompts=prompts, completions=completions,
                logps=completion_logps(model, prompts, completions), greedy=generated)


def largest_difference(ours: list[list[float]], theirs: list[list[float]]) -> float:
    return max(abs(a - b) for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True))


def check(folder: pathlib.Path) -> None:
    for case in json.loads((folder / "logps.json").read_text()):
        path = folder / case["name"]
        if case["kind"] == "adapter":
            model = PeftModel.from_pretrained(base_model(case["base"]), path).eval()
        else:
            model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
        theirs = completion_logps(model, case["prompts"], case["completions"])
        worst = largest_difference(case["logps"], theirs)
        print(f"{case['name']} ({case['kind']}): largest difference {worst:.2g}")
        assert worst < 1e-4


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", type=pathlib.Path)
    folder = parser.parse_args().check
    if folder:
        return check(folder)
    shutil.rmtree(FIXTURES / "adapters", ignore_errors=True)
    made = [make(name, base, settings, 10 + i) for i, (name, (base, settings)) in enumerate(CASES.items())]
    (FIXTURES / "adapters.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
