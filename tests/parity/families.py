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
    Gemma4ForCausalLM,
    Gemma4TextConfig,
    Gemma4UnifiedForCausalLM,
    Gemma4UnifiedTextConfig,
    GraniteConfig,
    GraniteForCausalLM,
    GraniteMoeHybridConfig,
    GraniteMoeHybridForCausalLM,
    Lfm2Config,
    Lfm2ForCausalLM,
    Lfm3Config,
    Lfm3ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Ministral3Config,
    Ministral3ForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    Olmo3Config,
    Olmo3ForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

TARGET = FIXTURES / "families"
LONGROPE = dict(
    rope_type="longrope", rope_theta=1000.0, partial_rotary_factor=0.75, original_max_position_embeddings=128,
    short_factor=[1.0, 1.5, 2.5], long_factor=[2.0, 4.0, 8.0],
)
LOCAL = dict(full_attention=dict(rope_type="default", rope_theta=1e5), sliding_attention=dict(rope_type="default", rope_theta=1e3))
PROPORTIONAL = dict(
    full_attention=dict(rope_type="proportional", rope_theta=1e5, partial_rotary_factor=0.25),
    sliding_attention=dict(rope_type="default", rope_theta=1e3),
)
YARN = dict(rope_type="yarn", rope_theta=1000.0, factor=4.0, original_max_position_embeddings=32, beta_fast=4.0, beta_slow=0.5)


def make(config_class, model_class, rope: dict = DEFAULT, **more):
    return lambda: model_class(config_class(**{**COMMON, **more}, rope_parameters=rope))


# Cases after these first ones generate 64 tokens, and `--add` makes those that families.json lacks.
FIRST = 10
# Other seeds, where two tokens came too close, or rounding too far.
SHIFTED = {"phi3-longrope-beyond": 1000, "qwen3.5": 2000, "gemma4": 2000, "granite4-mamba": 5000}
# In transformers, biases make padding to the left of a text show.
ALONE = ["lfm2-bias"]
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
    "olmo3": make(
        Olmo3Config, Olmo3ForCausalLM, num_hidden_layers=4, sliding_window=16,
        rope=dict(full_attention=dict(YARN, attention_factor=1.2), sliding_attention=dict(rope_type="default", rope_theta=500000.0)),
    ),
    "ministral3": make(
        Ministral3Config, Ministral3ForCausalLM, head_dim=16, tie_word_embeddings=True,
        rope=dict(YARN, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1),
    ),
    "qwen3-yarn": make(Qwen3Config, Qwen3ForCausalLM, rope=dict(YARN, truncate=False), head_dim=16),
    "llama-linear": make(LlamaConfig, LlamaForCausalLM, rope=dict(rope_type="linear", rope_theta=1000.0, factor=4.0)),
    # Every sequence is longer than the original context.
    "phi3-longrope-beyond": make(
        Phi3Config, Phi3ForCausalLM, original_max_position_embeddings=3,
        rope=dict(LONGROPE, partial_rotary_factor=1.0, original_max_position_embeddings=3, short_factor=[1.0, 1.2, 1.5, 2.5], long_factor=[2.0, 3.0, 4.0, 8.0]),
    ),
    "lfm2": make(
        Lfm2Config, Lfm2ForCausalLM, num_hidden_layers=3, layer_types=["conv", "full_attention", "conv"], tie_word_embeddings=True,
        block_multiple_of=8, conv_L_cache=3,
    ),
    "lfm2-bias": make(
        Lfm2Config, Lfm2ForCausalLM, layer_types=["conv", "full_attention"], tie_word_embeddings=False, conv_bias=True,
        block_auto_adjust_ff_dim=False, conv_L_cache=4,
    ),
    # Three and a half chunks of 32 tokens.
    "qwen3.5": make(
        Qwen3_5TextConfig, Qwen3_5ForCausalLM, num_hidden_layers=4, head_dim=16, linear_key_head_dim=8, linear_value_head_dim=12,
        linear_num_key_heads=2, linear_num_value_heads=4, tie_word_embeddings=True,
        rope=dict(DEFAULT, mrope_section=[1, 1, 0], mrope_interleaved=True, partial_rotary_factor=0.25),
    ),
    # Of Granite 4 the dense sizes without Mamba, with RoPE and without.
    "granite4": make(
        GraniteMoeHybridConfig, GraniteMoeHybridForCausalLM, num_local_experts=0, mamba_n_heads=4, shared_intermediate_size=48, layer_types=["full_attention"] * 2,
        position_embedding_type="rope", embedding_multiplier=3.0, residual_multiplier=0.4, attention_multiplier=0.2, logits_scaling=1.7,
        tie_word_embeddings=True,
    ),
    "granite4-no-rope": make(
        GraniteMoeHybridConfig, GraniteMoeHybridForCausalLM, num_local_experts=0, mamba_n_heads=4, shared_intermediate_size=40, layer_types=["full_attention"] * 2,
        position_embedding_type="nope", attention_multiplier=0.2,
    ),
    # As the smallest two: inputs by layer, keys and values of an earlier layer, wider MLPs beside them.
    "gemma4": make(
        Gemma4TextConfig, Gemma4ForCausalLM, rope=PROPORTIONAL, num_hidden_layers=5, num_key_value_heads=1, head_dim=8, global_head_dim=16,
        sliding_window=16, layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"],
        vocab_size_per_layer_input=96, hidden_size_per_layer_input=8, num_kv_shared_layers=2, use_double_wide_mlp=True,
        final_logit_softcapping=12.0,
    ),
    # As the larger ones: keys that are the values too.
    "gemma4-unified": make(
        Gemma4UnifiedTextConfig, Gemma4UnifiedForCausalLM, rope=PROPORTIONAL, num_hidden_layers=3, head_dim=8, global_head_dim=16,
        num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=16,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"], final_logit_softcapping=30.0,
    ),
    # Granite 4's hybrids: two groups of heads, with one and a half chunks of 64 tokens.
    "granite4-mamba": make(
        GraniteMoeHybridConfig, GraniteMoeHybridForCausalLM, num_local_experts=0, num_hidden_layers=3, mamba_n_heads=4, mamba_n_groups=2,
        mamba_d_state=8, shared_intermediate_size=40, layer_types=["linear_attention", "full_attention", "linear_attention"],
        position_embedding_type="nope", embedding_multiplier=3.0, residual_multiplier=0.4, attention_multiplier=0.2, logits_scaling=1.7,
        tie_word_embeddings=True,
    ),
    "lfm3": make(
        Lfm3Config, Lfm3ForCausalLM, num_hidden_layers=4, head_dim=16, sliding_window=16, conv_L_cache=4,
        layer_types=["conv", "sliding_attention", "full_attention", "conv"],
        rope=dict(PROPORTIONAL, full_attention=dict(PROPORTIONAL["full_attention"], partial_rotary_factor=0.5)),
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
    return dict(logps=completion_logps(model, *pairs, alone=name in ALONE), gradients=found)


def check(folder: pathlib.Path) -> None:
    made = {case["name"]: case for case in json.loads((FIXTURES / "families.json").read_text())}
    for name, case in made.items():
        merged = AutoModelForCausalLM.from_pretrained(folder / "families" / name, dtype=torch.float32).eval()
        base = AutoModelForCausalLM.from_pretrained(TARGET / name, dtype=torch.float32)
        peft = PeftModel.from_pretrained(base, folder / "families" / name / "adapter").eval()
        for kind, model in (("merged", merged), ("adapter", peft)):
            theirs = completion_logps(model, case["prompts"], case["completions"], alone=name in ALONE)
            worst = max(abs(a - b) for x, y in zip(theirs, case["adapter"]["logps"]) for a, b in zip(x, y))
            print(f"{name} ({kind}): largest difference {worst:.2g}")
            assert worst < 1e-4


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--add", action="store_true")
    given = parser.parse_args()
    if given.check:
        return check(given.check)
    made = json.loads((FIXTURES / "families.json").read_text()) if given.add else []
    if not given.add:
        shutil.rmtree(TARGET, ignore_errors=True)
    known = {case["name"] for case in made}
    for index, (name, build) in enumerate(CASES.items()):
        if name in known:
            continue
        model = build()
        randomise(model, 300 + index + SHIFTED.get(name, 0))
        with torch.no_grad():
            if name in ("gemma3", "qwen3.5"):
                for key, weight in model.named_parameters():
                    if "norm" in key and "linear_attn" not in key:
                        weight.sub_(1)
            if "gemma4" in name:
                # Its scores aren't divided by anything: as large as they come, they are all one token's.
                for layer in model.model.layers:
                    layer.self_attn.q_norm.weight.mul_(0.3)
            for key, scalar in model.named_buffers():
                if key.endswith("layer_scalar"):
                    scalar.fill_(0.6 + 0.1 * int(key.split(".")[2]))
            if model.config.tie_word_embeddings:
                # Otherwise the residual stream is so much the last token's that it is repeated for ever.
                scale = model.config.hidden_size**0.5 if "gemma4" in name else getattr(model.config, "embedding_multiplier", 1)
                model.get_input_embeddings().weight.mul_(0.7 / scale)
                getattr(model.model, "norm", getattr(model.model, "embedding_norm", None)).weight.mul_(2)
        folder = TARGET / name
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        reference = references(name, folder, random.Random(50 + index), new=24 if index < FIRST else 64, alone=name in ALONE)
        loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
        del reference["penalised"]
        reference["gradients"] = gradients(loaded, reference["prompts"], reference["completions"])
        reference["adapter"] = adapted(name, folder, reference, 400 + index)
        made.append(reference)
        (FIXTURES / "families.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
