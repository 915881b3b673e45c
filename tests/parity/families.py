"""Makes fixtures/families/: tiny random models of the architectures that differ from Llama, each with a PEFT adapter on
all its linear layers, and in families.json what models.py stores, the adapter's log-probabilities, and torch's gradients.
With --check FOLDER, FOLDER holds what write-adapters.ts wrote: the same adapters, and the models with them merged, which
must load in PEFT and transformers and give these values.

Run from the repository root: python tests/parity/families.py [--check FOLDER]   (pip install torch transformers peft)
"""

import argparse
import json
import pathlib
import random
import shutil

import torch
from models import COMMON, DEFAULT, FIXTURES, randomise, references
from peft import LoraConfig, PeftModel, get_peft_model
from reference import completion_logps
from transformers import (
    AutoModelForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GraniteConfig,
    GraniteForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

TARGET = FIXTURES / "families"
LONGROPE = dict(
    rope_type="longrope", rope_theta=1000.0, partial_rotary_factor=0.75, original_max_position_embeddings=128,
    short_factor=[1.0, 1.5, 2.5], long_factor=[2.0, 4.0, 8.0],
)
LOCAL = dict(full_attention=dict(rope_type="default", rope_theta=1e5), sliding_attention=dict(rope_type="default", rope_theta=1e3))


def make(config_class, model_class, rope: dict = DEFAULT, **more):
    return lambda: model_class(config_class(**{**COMMON, **more}, rope_parameters=rope))


# Windows of 16 tokens, so that most of the sequences are longer.
CASES = {
    "llama-mlp-bias": make(LlamaConfig, LlamaForCausalLM, mlp_bias=True, attention_bias=True),
    "mistral": make(MistralConfig, MistralForCausalLM, sliding_window=None, head_dim=16),
    "mistral-window": make(MistralConfig, MistralForCausalLM, sliding_window=16),
    "qwen2-window": make(
        Qwen2Config, Qwen2ForCausalLM, use_sliding_window=True, sliding_window=16, max_window_layers=1, tie_word_embeddings=False
    ),
    "smollm3": make(SmolLM3Config, SmolLM3ForCausalLM, num_hidden_layers=3, no_rope_layer_interval=2),
    "phi3-window": make(Phi3Config, Phi3ForCausalLM, sliding_window=16),
    "phi4-mini-longrope": make(Phi3Config, Phi3ForCausalLM, rope=LONGROPE, original_max_position_embeddings=128, tie_word_embeddings=True),
    "gemma3": make(
        Gemma3TextConfig, Gemma3ForCausalLM, rope=LOCAL, num_hidden_layers=3, num_key_value_heads=1, head_dim=16,
        query_pre_attn_scalar=12, sliding_window=16, layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "olmo2": make(Olmo2Config, Olmo2ForCausalLM),
    "granite": make(
        GraniteConfig, GraniteForCausalLM, embedding_multiplier=3.0, residual_multiplier=0.4, attention_multiplier=0.2,
        logits_scaling=1.7, tie_word_embeddings=True,
    ),
}


def gradients(model, prompts, completions) -> list[dict]:
    """Of minus the mean log-probability of all completion tokens: each parameter's norm, and its product with cosines."""
    total, count = 0.0, 0
    for prompt, completion in zip(prompts, completions):
        logits = model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1].float()
        total = total - torch.log_softmax(logits, -1).gather(1, torch.tensor(completion)[:, None]).sum()
        count += len(completion)
    trained = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    found = torch.autograd.grad(total / count, [weight for _, weight in trained])
    waves = lambda g: (g.flatten().double() * torch.cos(torch.arange(g.numel(), dtype=torch.float64))).sum().item()
    return [dict(name=name, norm=g.double().norm().item(), wave=waves(g)) for (name, _), g in zip(trained, found)]


def adapted(name: str, folder: pathlib.Path, reference: dict, seed: int) -> dict:
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=2, lora_alpha=4, target_modules="all-linear")).eval()
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if "lora_B" in key:
                weight.normal_(0, 0.3)
    # A relative base path: a fixture must not name the machine that made it.
    model.peft_config["default"].base_model_name_or_path = name
    model.save_pretrained(folder / "adapter")
    (folder / "adapter" / "README.md").unlink(missing_ok=True)
    pairs = (reference["prompts"], reference["completions"])
    found = gradients(model, *pairs)
    for each in found:
        each["name"] = each["name"].replace(".default", "")
    return dict(logps=completion_logps(model, *pairs), gradients=found)


def check(folder: pathlib.Path) -> None:
    made = {case["name"]: case for case in json.loads((FIXTURES / "families.json").read_text())}
    for name, case in made.items():
        merged = AutoModelForCausalLM.from_pretrained(folder / "families" / name, dtype=torch.float32).eval()
        base = AutoModelForCausalLM.from_pretrained(TARGET / name, dtype=torch.float32)
        peft = PeftModel.from_pretrained(base, folder / "families" / name / "adapter").eval()
        for kind, model in (("merged", merged), ("adapter", peft)):
            theirs = completion_logps(model, case["prompts"], case["completions"])
            worst = max(abs(a - b) for x, y in zip(theirs, case["adapter"]["logps"]) for a, b in zip(x, y))
            print(f"{name} ({kind}): largest difference {worst:.2g}")
            assert worst < 1e-4


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", type=pathlib.Path)
    folder = parser.parse_args().check
    if folder:
        return check(folder)
    shutil.rmtree(TARGET, ignore_errors=True)
    made = []
    for index, (name, build) in enumerate(CASES.items()):
        model = build()
        randomise(model, 300 + index)
        with torch.no_grad():
            if name == "gemma3":
                for key, weight in model.named_parameters():
                    if "norm" in key:
                        weight.sub_(1)
            if model.config.tie_word_embeddings:
                # Otherwise the residual stream is so much the last token's that it is repeated for ever.
                model.get_input_embeddings().weight.mul_(0.7 / getattr(model.config, "embedding_multiplier", 1))
                model.model.norm.weight.mul_(2)
        folder = TARGET / name
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        reference = references(name, folder, random.Random(50 + index))
        loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
        del reference["penalised"]
        reference["gradients"] = gradients(loaded, reference["prompts"], reference["completions"])
        reference["adapter"] = adapted(name, folder, reference, 400 + index)
        made.append(reference)
    (FIXTURES / "families.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
