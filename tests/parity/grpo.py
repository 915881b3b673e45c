"""Makes fixtures/grpo-losses.json and fixtures/grpo-advantages.json: what TRL's GRPOTrainer computes on fixed
rollouts. Losses, metrics and gradients come from its `_compute_loss` with log-probabilities and entropies given as
leaves in place of a model's; rewards, advantages and metrics of a generation from its
`_generate_and_score_completions`, with completions given through its `rollout_func`.

Run from the repository root: python tests/parity/grpo.py   (pip install torch transformers trl)
"""

import json
import pathlib
import warnings

import torch
from trl_trainer import EOS, logged, make_trainer, numbers, tiny_model

warnings.filterwarnings("ignore")
FIXTURES = pathlib.Path(__file__).parent / "fixtures"
ROWS, COLUMNS = 4, 6
LENGTHS = [[6, 3, 5, 1], [2, 6, 4, 4]]


def micro_batch(index: int) -> dict:
    """Log-probabilities, entropies and advantages of one micro-batch, far enough apart that every branch is met."""
    generator = torch.Generator().manual_seed(100 + index)
    shape = (ROWS, COLUMNS)
    logps = -3 * torch.rand(shape, generator=generator) - 0.01
    return dict(
        lengths=LENGTHS[index],
        logps=logps,
        old=logps + 0.35 * torch.randn(shape, generator=generator),
        ref=logps + 0.5 * torch.randn(shape, generator=generator),
        entropies=2 * torch.rand(shape, generator=generator),
        advantages=torch.tensor([[1.3, -0.7, 0.0, -0.6], [0.4, -1.1, 0.9, -0.2]][index]),
    )


def run_case(batches: list[dict], case: dict) -> dict:
    """One accumulation window of TRL's loss over the given micro-batches."""
    trainer = make_trainer(tiny_model(), ["t3"] * 8, **case["settings"])
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = case["accumulation"]
    masked = case.get("truncated", [[], []])
    masks = []
    for batch, truncated in zip(batches, masked):
        mask = (torch.arange(COLUMNS)[None] < torch.tensor(batch["lengths"])[:, None]).int()
        mask[truncated] = 0
        masks.append(mask)
    items = sum(mask.sum() for mask in masks[: trainer.args.steps_per_generation])
    results = []
    for batch, mask in list(zip(batches, masks))[: case["accumulation"]]:
        logps = batch["logps"].clone().requires_grad_()
        entropies = batch["entropies"].clone().requires_grad_()
        trainer._get_per_token_logps_and_entropies = lambda *_, **__: (logps, entropies, None)
        inputs = dict(
            prompt_ids=torch.ones(ROWS, 1, dtype=torch.long), prompt_mask=torch.ones(ROWS, 1, dtype=torch.long),
            completion_ids=torch.ones(ROWS, COLUMNS, dtype=torch.long), completion_mask=mask,
            advantages=batch["advantages"], num_items_in_batch=items,
        )
        if case["old"]:
            inputs["old_per_token_logps"] = batch["old"]
        if trainer.beta != 0:
            inputs["ref_per_token_logps"] = batch["ref"]
        trainer._metrics["train"].clear()
        loss = trainer._compute_loss(trainer.model, inputs)
        loss.backward()
        results.append(
            dict(
                loss=loss.item(), logps_grad=numbers(logps.grad),
                entropies_grad=None if entropies.grad is None else numbers(entropies.grad),
                metrics=logged(trainer._metrics["train"]), mask=mask.flatten().tolist(),
            )
        )
    return {**case, "items": items.item(), "steps_per_generation": trainer.args.steps_per_generation, "results": results}


def loss_cases():
    """Every loss type with every option that it can be combined with."""
    types = ["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "luspo", "vespo"]
    kls = [dict(beta=0.0), dict(beta=0.04, use_bias_correction_kl=False), dict(beta=0.04, use_bias_correction_kl=True)]
    for loss_type in types:
        # cispo's cap is epsilon_high itself.
        base = dict(loss_type=loss_type, **(dict(epsilon_high=1.5) if loss_type == "cispo" else {}))
        for level in ["token", "sequence"]:
            for kl in kls:
                settings = {**base, **kl, "importance_sampling_level": level}
                yield dict(settings=settings, accumulation=1, old=False)
                yield dict(settings={**settings, "num_iterations": 2}, accumulation=1, old=True)
        two = {**base, "beta": 0.04, "gradient_accumulation_steps": 2}
        yield dict(settings=two, accumulation=2, old=False)
        yield dict(settings={**two, "num_iterations": 2}, accumulation=2, old=True)
        # A generation that serves two optimiser steps.
        yield dict(settings={**base, "steps_per_generation": 2}, accumulation=1, old=True)
        yield dict(settings={**two, "mask_truncated_completions": True}, accumulation=2, old=True, truncated=[[1], [0, 2]])
        yield dict(settings={**base, "top_entropy_quantile": 0.3}, accumulation=1, old=True)
        yield dict(settings={**two, "top_entropy_quantile": 0.45, "entropy_coef": 0.02}, accumulation=2, old=True)
        yield dict(settings={**two, "entropy_coef": -0.01}, accumulation=2, old=True)
        yield dict(settings={**base, "epsilon": 0.1, "epsilon_high": 0.28}, accumulation=1, old=True)
        off_policy = {**base, "beta": 0.04, "off_policy_mask_threshold": 0.05}
        yield dict(settings=off_policy, accumulation=1, old=True)
        yield dict(settings={**off_policy, "top_entropy_quantile": 0.45}, accumulation=1, old=True)
        if loss_type in [*types[:4], "luspo"]:
            yield dict(settings={**base, "delta": 1.25, "epsilon_high": 0.5}, accumulation=1, old=True)
            yield dict(settings={**base, "delta": 1.1, "beta": 0.1}, accumulation=1, old=True)
        if loss_type == "sapo":
            sapo = dict(sapo_temperature_pos=0.7, sapo_temperature_neg=2.0)
            yield dict(settings={**base, **sapo}, accumulation=1, old=True)
        if loss_type == "vespo":
            vespo = dict(vespo_k_pos=1.0, vespo_lambda_pos=0.5, vespo_k_neg=0.0, vespo_lambda_neg=4.0)
            yield dict(settings={**base, **vespo}, accumulation=1, old=True)


def advantage_cases():
    """Rewards [function][row], completions and settings of one generation of 8 rows in groups of 4."""
    generator = torch.Generator().manual_seed(7)
    random = [[round(x, 4) for x in row] for row in torch.rand(2, 8, generator=generator).tolist()]
    dead = [[0.5] * 4 + [0.0, 1.0, 0.0, 0.25], [1.0, 2.0, 3.0, 4.0] + [0.3] * 4]
    holes = [[0.2, None, 0.9, 0.4, None, None, 0.7, 0.1], [1.0, None, None, 0.5, 0.4, None, 0.6, 0.8]]
    perfect = [[1.0] * 8, [0.25] * 8]
    lengths = [[3, 8, 5, 8, 2, 8, 7, 4], [8] * 8]
    ended = [[True, True, True, False, True, False, True, True], [False] * 8]
    for scale in ["group", "batch", "none"]:
        for i, rewards in enumerate([random, dead, holes, perfect]):
            # Weights that leave equal rewards equal in float32.
            for weights in [None, [0.5, 2.0] if rewards is perfect else [0.7, 2.0]]:
                settings = dict(scale_rewards=scale, reward_weights=weights)
                yield dict(settings=settings, rewards=rewards, lengths=lengths[i % 2], ended=ended[i % 2])
    for rewards in [random, dead, holes, perfect]:
        for weights in [None, [0.5, 2.0] if rewards is perfect else [0.7, 2.0]]:
            settings = dict(multi_objective_aggregation="normalize_then_sum", reward_weights=weights)
            yield dict(settings=settings, rewards=rewards, lengths=lengths[0], ended=ended[0])
    settings = dict(reward_weights=[0.7, 2.0], num_generations=8)
    # 0.7 + 0.5 in float32: TRL finds a spread in equal rewards (a deviation of ours, see README.md).
    yield dict(settings=settings, rewards=perfect, lengths=lengths[0], ended=ended[0], rounding=True)
    settings = dict(mask_truncated_completions=True)
    yield dict(settings=settings, rewards=random, lengths=lengths[0], ended=ended[0])


def run_advantages(case: dict) -> dict:
    prompt_lengths = [2, 2, 2, 2, 5, 5, 5, 5]

    def rollout(prompts, _):
        completions = [[3] * (n - 1) + [EOS if e else 3] for n, e in zip(case["lengths"], case["ended"])]
        return dict(prompt_ids=[[4] * n for n in prompt_lengths], completion_ids=completions, logprobs=None)

    rewards = [(name, lambda values=values: values) for name, values in zip(["first", "second"], case["rewards"])]
    trainer = make_trainer(
        tiny_model(), ["t3"] * 8, rollout, rewards, per_device_train_batch_size=8, **case["settings"]
    )
    trainer.model.train()
    output = trainer._generate_and_score_completions([{"prompt": "t3"}] * 8)
    return {
        **case, "prompt_lengths": prompt_lengths, "advantages": numbers(output["advantages"]),
        "items": output["num_items_in_batch"].item(), "metrics": logged(trainer._metrics["train"]),
    }


def write(name: str, value) -> None:
    path = FIXTURES / name
    path.write_text(json.dumps(value, separators=(",", ":")))
    print(f"{name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    batches = [micro_batch(0), micro_batch(1)]
    cases = [run_case(batches, case) for case in loss_cases()]
    stored = [{k: numbers(v) if torch.is_tensor(v) else v for k, v in batch.items()} for batch in batches]
    write("grpo-losses.json", dict(rows=ROWS, columns=COLUMNS, max_completion_length=8, batches=stored, cases=cases))
    write("grpo-advantages.json", [run_advantages(case) for case in advantage_cases()])
