"""Makes fixtures/grpo-steps.json: whole optimiser steps of TRL's GRPOTrainer on the tiny models of models.py and the
adapter of lora.py, with completions and rewards that we choose. Everything that TRL logs at each step, and the
trained parameters afterwards, come from its own `train()`. Only the shuffle of rows within a generation is switched
off (random numbers can't be matched).

Run from the repository root: python tests/parity/grpo_steps.py [--add]   (--add: only the cases that the file lacks; pip install torch transformers trl peft)
"""

import json
import pathlib
import random
import sys
import warnings

import torch
import trl.trainer.grpo_trainer
from peft import PeftModel
from transformers import AutoModelForCausalLM
from trl_trainer import EOS, make_trainer, numbers

warnings.filterwarnings("ignore")
trl.trainer.grpo_trainer.shuffle_sequence_dict = lambda batch: batch
FIXTURES = pathlib.Path(__file__).parent / "fixtures"
GROUP, MOST = 4, 8

COMMON = dict(learning_rate=3e-3, lr_scheduler_type="linear", warmup_steps=0, max_steps=4, max_grad_norm=1.0)
CASES = [
    # Two steps a generation (two passes, two micro-batches a step), all weights, KL.
    dict(base="models/llama-untied-f32", adapter=None, settings={
        **COMMON, "num_iterations": 2, "gradient_accumulation_steps": 2, "beta": 0.04, "temperature": 0.9}),
    # The same on a warm-started adapter: the reference is a frozen copy of it.
    dict(base="models/llama-untied-f32", adapter="adapters/lora-all-linear", settings={
        **COMMON, "num_iterations": 2, "gradient_accumulation_steps": 2, "beta": 0.04, "loss_type": "grpo",
        "learning_rate": 1e-2}),
    # A generation in two slices for two steps, masked completions, warm-up and decay.
    dict(base="models/qwen3-tied-f32", adapter=None, settings={
        **COMMON, "steps_per_generation": 2, "loss_type": "bnpo", "mask_truncated_completions": True,
        "lr_scheduler_type": "cosine", "warmup_steps": 1, "weight_decay": 0.1}),
    # On-policy, entropy bonus and mask, sequence-level ratio, no clipping of gradients in force.
    dict(base="models/qwen3-tied-f32", adapter=None, settings={
        **COMMON, "importance_sampling_level": "sequence", "gradient_accumulation_steps": 2, "entropy_coef": 0.01,
        "top_entropy_quantile": 0.5, "beta": 0.1, "use_bias_correction_kl": False, "max_grad_norm": 100.0,
        "lr_scheduler_type": "constant"}),
]
# Of the families whose layers differ: all weights of recurrent layers, and adapters on what PEFT takes for all linear layers.
THREE = {**COMMON, "learning_rate": 2e-4, "max_steps": 3, "num_iterations": 2, "beta": 0.04, "lr_scheduler_type": "constant"}
CASES += [dict(base=f"families/{name}", adapter=None, settings=THREE) for name in ("lfm2", "qwen3.5")]
CASES += [
    dict(base=f"families/{name}", adapter=f"families/{name}/adapter", settings=THREE)
    for name in ("olmo3", "ministral3", "lfm2", "qwen3.5", "gemma4")
]
CASES += [dict(base="families/gemma4", adapter=None, settings=THREE)]
CASES += [dict(base="families/granite4-mamba", adapter=adapter, settings=THREE) for adapter in (None, "families/granite4-mamba/adapter")]


def generation(rng: random.Random, groups: int) -> dict:
    """Prompts, completions (some cut off at MOST tokens) and rewards of one generation."""
    tokens = lambda n: [rng.randrange(3, 96) for _ in range(n)]
    rows = []
    for _ in range(groups * GROUP):
        length = rng.randrange(2, MOST + 3)
        rows.append(tokens(length - 1) + [EOS] if length <= MOST else tokens(MOST))
    return dict(
        prompts=[tokens(rng.randrange(2, 7)) for _ in range(groups)],
        completions=rows,
        rewards=[round(rng.random(), 3) for _ in rows],
    )


def run(case: dict, seed: int) -> dict:
    rng = random.Random(seed)
    settings = case["settings"]
    gas = settings.get("gradient_accumulation_steps", 1)
    slices = settings.get("steps_per_generation", gas)
    needed = -(-settings["max_steps"] * gas // (slices * settings.get("num_iterations", 1)))
    generations = [generation(rng, slices) for _ in range(needed)]
    served = iter(generations)
    current = {}

    def rollout(prompts, _):
        current.update(next(served))
        ids = [ids for ids in current["prompts"] for _ in range(GROUP)]
        return dict(prompt_ids=ids, completion_ids=current["completions"], logprobs=None)

    model = AutoModelForCausalLM.from_pretrained(FIXTURES / case["base"], dtype=torch.float32)
    # Without experts there is no loss of their balance, which TRL fails at.
    model.config.router_aux_loss_coef = 0.0
    if case["adapter"] is not None:
        model = PeftModel.from_pretrained(model, FIXTURES / case["adapter"], is_trainable=True)
    trainer = make_trainer(
        model, ["t3"] * 64, rollout, [("first", lambda: current["rewards"])],
        max_completion_length=MOST, num_generations=GROUP, **settings,
    )
    before = {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}
    trainer.train()
    drop = {"step", "step_time", "epoch"}
    logs = [{k: v for k, v in entry.items() if k not in drop} for entry in trainer.state.log_history if "loss" in entry]
    # Enough of each parameter to see a wrong update, without storing the models: its first values and how far it went.
    changed = {
        name.replace(".default", ""): dict(first=numbers(p.detach().flatten()[: 6 if case in CASES[:4] else 2]), moved=(p.detach() - before[name]).norm().item())
        for name, p in model.named_parameters() if name in before
    }
    return {**case, "generations": generations, "logs": logs, "parameters": changed}


if __name__ == "__main__":
    path = FIXTURES / "grpo-steps.json"
    made = json.loads(path.read_text())["cases"] if "--add" in sys.argv else []
    keys = ("base", "adapter", "settings")
    known = [{key: case[key] for key in keys} for case in made]
    for seed, case in enumerate(CASES):
        if case not in known:
            made.append(run(case, seed))
            print([{k: round(v, 5) for k, v in log.items() if k in ("loss", "grad_norm", "kl")} for log in made[-1]["logs"]])
    path.write_text(json.dumps(dict(group=GROUP, max_completion_length=MOST, cases=made), separators=(",", ":")))
    print(f"{path.name}: {path.stat().st_size} bytes")
