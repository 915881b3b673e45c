"""Makes fixtures/optimizer.json: torch.optim.AdamW with clip_grad_norm_ step by step, learning rates of
transformers' schedules as a Trainer logs and uses them, and which parameters transformers lets decay.

Run from the repository root: python tests/parity/optimizer.py   (pip install torch transformers)
"""

import json
import pathlib

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM, Trainer, get_scheduler

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
SHAPES = {"a.weight": (3, 4), "b.weight": (5,), "a.bias": (4,)}
STEPS = 8


def numbers(tensor) -> list:
    return [float(f"{value:.9g}") for value in tensor.detach().flatten().tolist()]


def adamw(settings: dict) -> dict:
    """STEPS updates from the same start and gradients; gradients grow so that some steps clip and some don't."""
    generator = torch.Generator().manual_seed(11)
    parameters = {name: torch.nn.Parameter(torch.randn(shape, generator=generator)) for name, shape in SHAPES.items()}
    start = {name: numbers(p) for name, p in parameters.items()}
    groups = [
        dict(params=[p for name, p in parameters.items() if "bias" not in name], weight_decay=settings["weight_decay"]),
        dict(params=[p for name, p in parameters.items() if "bias" in name], weight_decay=0.0),
    ]
    optimizer = torch.optim.AdamW(
        groups, lr=settings["learning_rate"], betas=(settings["adam_beta1"], settings["adam_beta2"]),
        eps=settings["adam_epsilon"],
    )
    scheduler = get_scheduler(
        settings["lr_scheduler_type"], optimizer, num_warmup_steps=settings["warmup_steps"], num_training_steps=STEPS
    )
    steps = []
    for step in range(STEPS):
        scale = 10.0 ** (step % 4 - 2)
        gradients = {name: scale * torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}
        for name, p in parameters.items():
            p.grad = gradients[name].clone()
        norm = None
        if settings["max_grad_norm"] > 0:
            norm = torch.nn.utils.clip_grad_norm_(parameters.values(), settings["max_grad_norm"]).item()
        rate = scheduler.get_last_lr()[0]
        optimizer.step()
        scheduler.step()
        steps.append(
            dict(
                gradients={name: numbers(g) for name, g in gradients.items()}, norm=norm, rate=rate,
                parameters={name: numbers(p) for name, p in parameters.items()},
            )
        )
    state = {name: {key: numbers(optimizer.state[p][key]) for key in ["exp_avg", "exp_avg_sq"]} for name, p in parameters.items()}
    return dict(settings=settings, start=start, steps=steps, state=state)


def rates(kind: str, warmup: int, total: int) -> dict:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=3e-4)
    scheduler = get_scheduler(kind, optimizer, num_warmup_steps=warmup, num_training_steps=total)
    out = []
    for _ in range(total + 2):
        out.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return dict(kind=kind, warmup=warmup, total=total, rates=out)


def decaying() -> dict:
    """Every parameter name of a Llama with biases and a Qwen3, and whether weight decay applies to it."""
    size = dict(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        vocab_size=8, tie_word_embeddings=False,
    )
    names = {}
    llama = LlamaForCausalLM(LlamaConfig(**size, attention_bias=True, mlp_bias=True))
    for model in [llama, Qwen3ForCausalLM(Qwen3Config(**size))]:
        chosen = set(Trainer.get_decay_parameter_names(None, model))
        names.update({name: name in chosen for name, _ in model.named_parameters()})
    return names


if __name__ == "__main__":
    plain = dict(
        learning_rate=0.01, adam_beta1=0.9, adam_beta2=0.999, adam_epsilon=1e-8, weight_decay=0.0, max_grad_norm=1.0,
        lr_scheduler_type="linear", warmup_steps=0,
    )
    runs = [
        plain,
        {**plain, "weight_decay": 0.1, "lr_scheduler_type": "cosine", "warmup_steps": 2},
        {**plain, "adam_beta1": 0.8, "adam_beta2": 0.95, "adam_epsilon": 1e-3, "max_grad_norm": 0.0},
        {**plain, "max_grad_norm": 0.05, "lr_scheduler_type": "constant_with_warmup", "warmup_steps": 3},
    ]
    kinds = ["linear", "cosine", "constant", "constant_with_warmup"]
    schedules = [rates(kind, warmup, total) for kind in kinds for warmup, total in [(0, 7), (3, 10), (5, 5), (1, 1)]]
    path = FIXTURES / "optimizer.json"
    path.write_text(
        json.dumps(dict(runs=[adamw(run) for run in runs], schedules=schedules, decay=decaying()), separators=(",", ":"))
    )
    print(f"{path.name}: {path.stat().st_size} bytes")
