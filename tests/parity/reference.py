"""What the model and adapter scripts share: how transformers scores completions and generates, with padding."""

import torch

PAD = 0


def padded(rows: list[list[int]], left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of ids as one matrix and its attention mask."""
    width = max(map(len, rows))
    fill = [[PAD] * (width - len(row)) for row in rows]
    mask = [([0] * len(f) + [1] * len(r)) if left else ([1] * len(r) + [0] * len(f)) for r, f in zip(rows, fill)]
    ids = [(f + r) if left else (r + f) for r, f in zip(rows, fill)]
    return torch.tensor(ids), torch.tensor(mask)


@torch.no_grad()
def completion_logps(model, prompts: list[list[int]], completions: list[list[int]], alone: bool = False) -> list[list[float]]:
    """Log-probabilities of [left-padded prompt | right-padded completion], as TRL computes them; `alone`: one by one."""
    if alone:
        return [completion_logps(model, [p], [c])[0] for p, c in zip(prompts, completions)]
    prompt_ids, prompt_mask = padded(prompts, left=True)
    completion_ids, completion_mask = padded(completions, left=False)
    ids = torch.cat([prompt_ids, completion_ids], 1)
    mask = torch.cat([prompt_mask, completion_mask], 1)
    # Some models compute by the position itself, which padding must not shift.
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    logits = model(input_ids=ids, attention_mask=mask, position_ids=positions).logits[:, prompt_ids.shape[1] - 1 : -1]
    logps = torch.log_softmax(logits.float(), -1).gather(2, completion_ids[:, :, None])[:, :, 0]
    return [[round(x, 6) for x in row[: len(c)].tolist()] for row, c in zip(logps, completions)]


@torch.no_grad()
def greedy(model, prompts: list[list[int]], eos: list[int], new: int, **options) -> tuple[list[list[int]], float]:
    """Greedy completions, cut after their end token, and the smallest lead of a chosen token over the second."""
    ids, mask = padded(prompts, left=True)
    out = model.generate(
        input_ids=ids, attention_mask=mask, do_sample=False, max_new_tokens=new, eos_token_id=eos, pad_token_id=PAD,
        return_dict_in_generate=True, output_scores=True, **options,
    )
    completions, lead = [], float("inf")
    for row, sequence in enumerate(out.sequences[:, ids.shape[1] :].tolist()):
        ends = [i for i, token in enumerate(sequence) if token in eos]
        completion = sequence[: ends[0] + 1] if ends else sequence
        completions.append(completion)
        for scores in out.scores[: len(completion)]:
            first, second = scores[row].topk(2).values.tolist()
            lead = min(lead, first - second)
    return completions, lead
