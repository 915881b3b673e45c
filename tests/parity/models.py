"""Makes fixtures/models/: tiny random Llama, Qwen2 and Qwen3 folders written by transformers, and in models.json the
log-probabilities that transformers gives to padded batches and its greedy generations.

Run from the repository root: python tests/parity/models.py   (pip install torch transformers)
"""

import json
import pathlib
import random
import shutil

import torch
from reference import PAD, completion_logps, greedy
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
COMMON = dict(
    hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    vocab_size=96, max_position_embeddings=512, pad_token_id=PAD, bos_token_id=1, eos_token_id=2,
)
# Training length 32, so that a hundred positions meet all three branches of the scaling.
LLAMA3 = dict(
    rope_type="llama3", rope_theta=1000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=32,
)
DEFAULT = dict(rope_type="default", rope_theta=10000.0)


def make(kind: str, tied: bool, rope: dict, **more):
    classes = dict(
        llama=(LlamaConfig, LlamaForCausalLM), qwen2=(Qwen2Config, Qwen2ForCausalLM), qwen3=(Qwen3Config, Qwen3ForCausalLM)
    )
    config_class, model_class = classes[kind]
    return model_class(config_class(**{**COMMON, **more}, tie_word_embeddings=tied, rope_parameters=rope))


# name: model, dtype of the file, shard size, whether config.json gets the keys of transformers 4
CASES = {
    "llama-untied-f32": (lambda: make("llama", False, DEFAULT), torch.float32, None, True),
    "llama-tied-llama3-bf16-sharded": (lambda: make("llama", True, LLAMA3), torch.bfloat16, "16KB", False),
    "llama-llama3-oldkeys-f16": (lambda: make("llama", False, LLAMA3, head_dim=16), torch.float16, None, True),
    "llama-attention-bias-f32-sharded": (lambda: make("llama", False, DEFAULT, attention_bias=True), torch.float32, "40KB", False),
    "qwen2-tied-f32": (lambda: make("qwen2", True, dict(rope_type="default", rope_theta=1e6)), torch.float32, None, False),
    "qwen2-untied-bf16-oldkeys": (lambda: make("qwen2", False, DEFAULT), torch.bfloat16, None, True),
    "qwen3-tied-f32": (lambda: make("qwen3", True, DEFAULT, head_dim=16, rms_norm_eps=1e-5), torch.float32, None, False),
    "qwen3-untied-f16-sharded": (lambda: make("qwen3", False, DEFAULT, head_dim=24, num_key_value_heads=1), torch.float16, "16KB", False),
}


def randomise(model, seed: int) -> None:
    """Weights large enough that every part of the network shows in the logits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            normal = torch.randn(weight.shape, generator=generator)
            if "norm" in name or name.endswith(".D"):
                weight.copy_(1 + 0.2 * normal)
            elif name.endswith("bias") or name.endswith("A_log"):
                weight.copy_(0.3 * normal)
            else:
                weight.copy_(0.7 * normal if "embed" in name else normal * 1.6 / weight.flatten(1).shape[1] ** 0.5)


def older_keys(folder: pathlib.Path) -> None:
    """rope_theta and rope_scaling beside each other, as transformers 4 wrote them."""
    file = folder / "config.json"
    config = json.loads(file.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = rope if rope["rope_type"] != "default" else None
    file.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def ends(free: list[list[int]]) -> list[int]:
    """Two end tokens that some rows meet early and others late or never."""
    return [free[0][5], free[1][12]]


def references(name: str, folder: pathlib.Path, rng: random.Random, new: int = 24, alone: bool = False) -> dict:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    row = lambda n: [rng.randrange(3, COMMON["vocab_size"]) for _ in range(n)]
    prompts = [row(n) for n in (9, 3, 1, 40)]
    completions = [row(n) for n in (6, 1, 17, 60)]
    batches = [[prompt] for prompt in prompts] if alone else [prompts]
    together = lambda eos: [greedy(model, batch, eos, new) for batch in batches]
    free = [row for rows, _ in together([COMMON["vocab_size"] + 1]) for row in rows]
    eos = ends(free)
    found = together(eos)
    stopped, lead = [row for rows, _ in found for row in rows], min(own for _, own in found)
    # One at a time: in a batch transformers penalises the padding token too.
    penalised = [greedy(model, [prompt], eos, new, repetition_penalty=1.3) for prompt in prompts]
    lead = min([lead, *(own for _, own in penalised)])
    print(f"{name}: stopped at {[len(s) for s in stopped]} of {new}, smallest lead {lead:.2g}")
    # A near tie could fall either way by rounding alone.
    assert lead > 1e-4, "take another seed"
    return dict(
        name=name, new=new, prompts=prompts, completions=completions, logps=completion_logps(model, prompts, completions, alone),
        eos=eos, greedy=stopped, penalised=[ids for (ids,), _ in penalised],
    )


def main() -> None:
    target = FIXTURES / "models"
    shutil.rmtree(target, ignore_errors=True)
    made = []
    for index, (name, (build, dtype, shard, older)) in enumerate(CASES.items()):
        model = build()
        randomise(model, 100 + index)
        if name.startswith("llama-untied"):
            model.generation_config = GenerationConfig(eos_token_id=[2, 5], pad_token_id=PAD)
        folder = target / name
        model.to(dtype).save_pretrained(folder, **({"max_shard_size": shard} if shard else {}))
        if older:
            older_keys(folder)
        made.append(references(name, folder, random.Random(index)))
    (FIXTURES / "models.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
