"""Trains the bundled tiny model on synthetic pairs and writes it to resources/models/tiny.

    python scripts/tiny-model/train.py [--out DIR] [--work FILE] [--from DIR --stage N] [--processes N]

It learns to copy words and five ways of combining two texts. A tag at the end of a prompt names the way; without a tag
(the "process" prompt) it has a preference that is mostly wrong, so GRPO finds something to select.

Python, torch and numpy are needed for this script only (3.11, 2.13.0+cpu and 2.4.6 were used). Examples come from
examples.ts, and measure.ts measures the skill: both need Node 24. Each process takes its share of a step on one
thread, and gradients are added up. It continues from --work if that exists. --from begins at a later stage, with
a model that has the ones before behind it.
"""
import argparse, json, math, os, struct, subprocess, time
from pathlib import Path
import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "attention_bias": False, "bos_token_id": 2, "dtype": "float16",
    "eos_token_id": 3, "head_dim": 32, "hidden_act": "silu", "hidden_size": 128, "intermediate_size": 256,
    "max_position_embeddings": 4096, "mlp_bias": False, "model_type": "llama", "num_attention_heads": 8,
    "num_hidden_layers": 6, "num_key_value_heads": 8, "pad_token_id": 0, "rms_norm_eps": 1e-5, "rope_scaling": None,
    "rope_theta": 1000000, "tie_word_embeddings": True, "vocab_size": 4096,
}
D, INNER, HEADS, K = (
    CONFIG[name] for name in ("hidden_size", "intermediate_size", "num_attention_heads", "head_dim")
)
# How fragments repeat themselves, and what is answered to them (Settings in synthetic.ts).
LIKE_PROSE = {
    "recurring": {"short": 0, "long": 0}, "phrases": {"recurring": 0, "alike": 0.06}, "near": 0, "interleaved": 0.03,
    "beginnings": 0,
}
RECURRING = LIKE_PROSE | {"recurring": {"short": 0.5, "long": 0}, "phrases": {"recurring": 0.15, "alike": 0.08}}
NEARBY = RECURRING | {"phrases": {"recurring": 0.3, "alike": 0.08}, "near": 0.6}
NEARBY_IN_ALL = NEARBY | {"recurring": {"short": 0.5, "long": 0.2}}
# The stages, one after the other. `fall`: the steps over which the learning rates fall to 0, by a parabola: a long time at
# small rates is what long texts need. `grow`: a layer is inserted here that changes nothing at first. `data` is what
# examples.ts streams.
STAGES = [
    # To copy, first words, then ever longer texts.
    {
        "layers": 5, "steps": 3600, "fall": [700, 3600], "matrix_rate": 0.03, "other_rate": 1e-3,
        "data": {
            "seed": 5, "tokens": [[0, 4096], [600, 8192]],
            "longest": [[0, 5], [300, 10], [600, 20], [800, 40], [1000, 80], [1300, 125], [2200, 160], [2900, 220]],
            **LIKE_PROSE,
        },
    },
    # To find the place by several words before it: short texts in which nearly every word recurs.
    {
        "grow": 2, "steps": 540, "fall": [60, 540], "matrix_rate": 0.01, "other_rate": 3e-4,
        "data": {"seed": 77, "tokens": [[0, 8192]], "longest": [[0, 220]], **RECURRING},
    },
    # Not to take a place for another one nearby: phrases that come back within some words.
    {
        "steps": 640, "fall": [40, 640], "matrix_rate": 0.006, "other_rate": 3e-4,
        "data": {"seed": 78, "tokens": [[0, 8192]], "longest": [[0, 220]], **NEARBY},
    },
    # The same in longer texts.
    {
        "steps": 480, "fall": [20, 480], "matrix_rate": 0.006, "other_rate": 3e-4,
        "data": {"seed": 79, "tokens": [[0, 8192]], "longest": [[0, 280]], **NEARBY_IN_ALL},
    },
    # A last touch at small rates, after which long texts hold together; short texts, of which a step has many, for what an
    # untagged prompt is answered with; and only the beginnings of answers, so that long texts are many as well.
    {
        "steps": 50, "fall": [10, 50], "matrix_rate": 0.001, "other_rate": 5e-5,
        "data": {"seed": 80, "tokens": [[0, 8192]], "longest": [[0, 125]], **NEARBY_IN_ALL},
    },
    {
        "steps": 80, "fall": [30, 80], "matrix_rate": 0.0005, "other_rate": 5e-5,
        "data": {"seed": 82, "tokens": [[0, 8192]], "longest": [[0, 30]], **NEARBY_IN_ALL},
    },
    {
        "steps": 150, "fall": [40, 150], "matrix_rate": 0.0001, "other_rate": 2.5e-5,
        "data": {
            "seed": 83, "tokens": [[0, 4096]], "longest": [[0, 125]], **NEARBY_IN_ALL, "interleaved": 0.09,
            "beginnings": 1,
        },
    },
]
WARMUP, REPORT, SAVE = 20, 25, 25
# Of the matrices, by a unit of learning rate. Without it attention grows ever sharper, and long texts come apart.
DECAY = 0.1


# A processor that knows bfloat16 multiplies several times as fast in it as in float32; one that doesn't, eight times slower.
FAST_HALF = ("amx_bf16", "avx512_bf16")
CPUINFO = Path("/proc/cpuinfo")
COMPUTE = torch.bfloat16 if CPUINFO.exists() and any(x in CPUINFO.read_text() for x in FAST_HALF) else torch.float32


# Model: float32 weights, products in COMPUTE. N packed tokens. Attention goes by chunks of queries, each with the keys that
# any of them sees and a mask [queries, keys].

class Attention(torch.autograd.Function):
    """torch's own attention computes what the mask hides, most of it here, and its backward pass is slow on processors."""

    @staticmethod
    def forward(ctx, q, k, v, chunks):
        q, k, v = (q * K**-0.5).contiguous(), k.contiguous(), v.contiguous()  # [heads, N, K]
        y, kept = torch.empty_like(q), []
        for rows, keys, mask in chunks:
            p = torch.baddbmm(mask, q[:, rows], k[:, keys].mT).softmax(-1)
            y[:, rows] = p @ v[:, keys]
            kept.append(p)
        ctx.save_for_backward(q, k, v, y)
        ctx.chunks, ctx.kept = chunks, kept
        return y

    @staticmethod
    def backward(ctx, dy):
        q, k, v, y = ctx.saved_tensors
        dy = dy.contiguous()
        delta = (dy.float() * y.float()).sum(-1, keepdim=True).to(q.dtype).neg_()
        dq, dk, dv = torch.empty_like(q), torch.zeros(q.shape), torch.zeros(q.shape)
        for (rows, keys, _), p in zip(ctx.chunks, ctx.kept):
            dys, qs = dy[:, rows], q[:, rows]
            dv.index_add_(1, keys, (p.mT @ dys).float())
            p.mul_(torch.baddbmm(delta[:, rows].expand_as(p), dys, v[:, keys].mT))
            dq[:, rows] = p @ k[:, keys]
            dk.index_add_(1, keys, (p.mT @ qs).float())
        return dq * K**-0.5, dk.to(q.dtype), dv.to(q.dtype), None


def linear(x, *weights):
    return F.linear(x, torch.cat(weights).to(x.dtype))


def norm(x, weight):
    return F.rms_norm(x, (D,), weight.to(x.dtype), CONFIG["rms_norm_eps"])


def log_losses(w, ids, positions, chunks, predictors, targets):
    """−log p of each target token."""
    angles = positions[:, None] * CONFIG["rope_theta"] ** (-torch.arange(0, K, 2) / K)
    cos, sin = angles.cos().to(COMPUTE), angles.sin().to(COMPUTE)

    def rotated(z):
        a, b = z.transpose(0, 1).chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)  # [heads, N, K]

    x = F.embedding(ids, w["model.embed_tokens.weight"]).to(COMPUTE)
    for i in range(layers_of(w)):
        p = lambda name: w[f"model.layers.{i}.{name}.weight"]
        h = norm(x, p("input_layernorm"))
        qkv = linear(h, p("self_attn.q_proj"), p("self_attn.k_proj"), p("self_attn.v_proj"))
        q, k, v = qkv.view(-1, 3, HEADS, K).unbind(1)
        y = Attention.apply(rotated(q), rotated(k), v.transpose(0, 1), chunks)
        x = x + linear(y.transpose(0, 1).reshape(-1, HEADS * K), p("self_attn.o_proj"))
        gate, up = linear(norm(x, p("post_attention_layernorm")), p("mlp.gate_proj"), p("mlp.up_proj")).chunk(2, -1)
        x = x + linear(F.silu(gate) * up, p("mlp.down_proj"))
    x = norm(x[predictors], w["model.norm.weight"])
    return F.cross_entropy(linear(x, w["model.embed_tokens.weight"]).float(), targets, reduction="none")


def layers_of(w):
    return sum(name.endswith("input_layernorm.weight") for name in w)


def starting_weights(layers):
    """Embeddings large beside what layers add at first, so that words can be told apart in the sums, and alike in their
    first number, which attention by distance needs; the last norm is small in return, so that logits begin as usual."""
    torch.manual_seed(1)
    random = lambda rows, columns, scale=1.0: torch.randn(rows, columns) * scale * columns**-0.5
    small = 0.3 * (2 * layers) ** -0.5
    embedding = 0.25 * torch.randn(CONFIG["vocab_size"], D)
    embedding[:, 0] = 1
    w = {"model.embed_tokens.weight": embedding, "model.norm.weight": torch.full((D,), D**-0.5 / 0.25)}
    for i in range(layers):
        layer = {f"self_attn.{x}_proj": random(HEADS * K, D) for x in "qkv"}
        layer["self_attn.o_proj"] = random(D, HEADS * K, small)
        layer |= {f"mlp.{x}_proj": random(INNER, D) for x in ("gate", "up")}
        layer["mlp.down_proj"] = random(D, INNER, small)
        layer |= {name: torch.ones(D) for name in ("input_layernorm", "post_attention_layernorm")}
        w |= {f"model.layers.{i}.{name}.weight": value for name, value in layer.items()}
    return w


def grown(w, at):
    """With one more layer, which adds nothing yet to what passes by."""
    out = {}
    for name, value in w.items():
        parts = name.split(".")
        if parts[1] == "layers" and int(parts[2]) >= at:
            parts[2] = str(int(parts[2]) + 1)
        out[".".join(parts)] = value
    for name, value in starting_weights(layers_of(w) + 1).items():
        if f".layers.{at}." in name:
            out[name] = torch.zeros_like(value) if "o_proj" in name or "down_proj" in name else value
    return out


# Muon (kellerjordan.github.io/posts/muon) for the layers' matrices, AdamW for the rest.

def orthogonal(x):
    y = x if x.shape[1] <= x.shape[2] else x.mT
    y = (y / (y.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(COMPUTE)
    for _ in range(5):
        square = y @ y.mT
        y = 3.4445 * y + (-4.775 * square + 2.0315 * (square @ square)) @ y
    return (y if x.shape[1] <= x.shape[2] else y.mT).float()


@torch.no_grad()
def muon(matrices, momentum, rate):
    for shape in {w.shape for w in matrices.values()}:
        names = [name for name, w in matrices.items() if w.shape == shape]
        gradients = torch.stack([matrices[name].grad for name in names])
        after = torch.stack([momentum[name] for name in names]).mul_(0.95).add_(gradients)
        for name, m, step in zip(names, after, orthogonal(gradients + 0.95 * after)):
            momentum[name] = m
            matrices[name].mul_(1 - rate * DECAY).sub_(step, alpha=rate * max(1, shape[0] / shape[1]) ** 0.5)


# Data

def node(*arguments, **options):
    return subprocess.Popen(["node", *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, **options)


def stream(plan, first):
    """Each step's groups: (prompt, [(completion, given)])."""
    wanted = json.dumps({"from": first, "steps": plan["steps"]} | plan["data"])
    pipe = node(HERE / "examples.ts", wanted, bufsize=1 << 22).stdout
    for _ in range(first, plan["steps"]):
        count, size = struct.unpack("<2i", pipe.read(8))
        data = np.frombuffer(pipe.read(4 * size), np.int32)
        groups, at = [], 0

        def take(n):
            nonlocal at
            at += n
            return data[at - n : at]

        for _ in range(count):
            length, completions = take(2)
            given = take(2 * completions).reshape(-1, 2)
            groups.append((take(length), [(take(n), g) for n, g in given]))
        yield groups


def packed_length(group):
    return len(group[0]) + sum(len(c) - 1 for c, _ in group[1])


def packed(groups):
    """The arguments of log_losses. Short groups share chunks."""
    ids, positions, predictors, targets, chunks = [], [], [], [], []
    part, sees = [], []  # a completion sees its prompt's part and its own
    start = at = parts = 0

    def place(tokens, position, home):
        nonlocal at, parts
        ids.append(tokens)
        positions.append(position + np.arange(len(tokens)))
        part.append(np.full(len(tokens), parts))
        sees.append(np.full(len(tokens), home))
        at, parts = at + len(tokens), parts + 1
        return np.arange(at - len(tokens), at)

    for group in groups:
        prompt, completions = group
        home = parts
        end = place(prompt, 0, home)[-1:]
        for completion, given in completions:
            own = place(completion[:-1], len(prompt), home)
            predictors.append(np.concatenate([end, own])[given:])
            targets.append(completion[given:])
        if at - start >= 256 or group is groups[-1]:
            chunks += chunks_of(start, np.concatenate(part), np.concatenate(sees))
            start, part, sees = at, [], []
    return *map(whole, (ids, positions)), chunks, *map(whole, (predictors, targets))


def shares(groups, processes):
    """Of about as many tokens for each process."""
    out, sizes = [[] for _ in range(processes)], [0] * processes
    for group in sorted(groups, key=packed_length, reverse=True):
        least = sizes.index(min(sizes))
        out[least].append(group)
        sizes[least] += packed_length(group)
    return out


def whole(parts):
    return torch.from_numpy(np.concatenate(parts).astype(np.int64))


def chunks_of(start, part, sees):
    """A token sees those before it of its own part and of the one that it completes."""
    part, sees = torch.from_numpy(part), torch.from_numpy(sees)
    chunks = []
    for at in range(0, len(part), 128):
        to = min(at + 128, len(part))
        own = slice(at, to)
        seen = ((part[own, None] == part[:to]) | (sees[own, None] == part[:to])).tril(at)
        keys = seen.any(0).nonzero()[:, 0]
        mask = torch.zeros(to - at, len(keys), dtype=COMPUTE).masked_fill_(~seen[:, keys], -30000.0)
        chunks.append((slice(start + at, start + to), start + keys, mask))
    return chunks


# Files

def read_model(folder):
    content = (folder / "model.safetensors").read_bytes()
    start = 8 + struct.unpack("<Q", content[:8])[0]
    types = {"F16": np.float16, "F32": np.float32}
    weights = {}
    for name, entry in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, end = entry["data_offsets"]
            values = np.frombuffer(content[start + first : start + end], types[entry["dtype"]])
            weights[name] = torch.from_numpy(values.astype(np.float32).reshape(entry["shape"]))
    return weights


def write_model(w, folder):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, value in sorted(w.items()):
        values = value.detach().numpy().astype(np.float16).tobytes()
        offsets = [len(data), len(data) + len(values)]
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": offsets}
        data += values
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    node(HERE / "examples.ts", "tokenizer", folder).wait()


# Training

def train(rank, options):
    torch.set_num_threads(1)
    if options.processes > 1:
        dist.init_process_group("gloo", rank=rank, world_size=options.processes)
    kept = torch.load(options.work) if options.work.exists() else None
    if kept is not None:
        w = kept["weights"]
    else:
        w = starting_weights(STAGES[0]["layers"]) if options.source is None else read_model(options.source)
    for stage in range(options.stage - 1 if kept is None else kept["stage"], len(STAGES)):
        if kept is None and "grow" in STAGES[stage]:
            w = grown(w, STAGES[stage]["grow"])
        train_stage(stage, w, kept, rank, options)
        kept = None
    if rank == 0:
        write_model(w, options.out)
        print(node(HERE / "measure.ts", options.out).communicate()[0].decode())


def train_stage(stage, w, kept, rank, options):
    """Trains `w` in place, with new moments unless `kept` has some."""
    plan, first = STAGES[stage], 0
    for value in w.values():
        value.requires_grad_()
    matrices = {name: value for name, value in w.items() if "_proj." in name}
    momentum = {name: torch.zeros_like(value) for name, value in matrices.items()}
    adam = torch.optim.AdamW([v for n, v in w.items() if n not in matrices], betas=(0.9, 0.98), weight_decay=0)
    if kept is not None:
        first, momentum = kept["step"], kept["momentum"]
        adam.load_state_dict(kept["adam"])
    began, tokens, losses = time.time(), 0, []
    for step, groups in enumerate(stream(plan, first), first):
        targets = sum(len(c) - given for _, completions in groups for c, given in completions)
        own = shares(groups, options.processes)[rank]
        loss = log_losses(w, *packed(own)).sum() / targets
        loss.backward()
        loss = loss.detach()
        if options.processes > 1:
            dist.all_reduce(loss)
            for value in w.values():
                dist.all_reduce(value.grad)
        begin, end = plan["fall"]
        share = min(1, (step + 1) / WARMUP, (max(0, plan["steps"] - step) / (end - begin)) ** 2)
        muon(matrices, momentum, plan["matrix_rate"] * share)
        adam.param_groups[0]["lr"] = plan["other_rate"] * share
        adam.step()
        for value in w.values():
            value.grad = None
        losses.append(loss.item())
        tokens += sum(map(packed_length, groups))
        done = step + 1
        if rank == 0 and done % REPORT == 0:
            seconds = time.time() - began
            place = f"stage {stage + 1}/{len(STAGES)} step {done}/{plan['steps']}"
            print(f"{place} loss {np.mean(losses):.4f} {tokens / seconds:.0f} tokens/s {seconds:.0f} s", flush=True)
            losses = []
        if rank == 0 and done % SAVE == 0:
            options.work.parent.mkdir(parents=True, exist_ok=True)
            new = options.work.with_suffix(".new")
            state = {"stage": stage, "step": done, "weights": w, "momentum": momentum, "adam": adam.state_dict()}
            torch.save(state, new)
            new.replace(options.work)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "resources/models/tiny")
    parser.add_argument("--from", dest="source", type=Path)
    parser.add_argument("--stage", type=int, default=1, help="the first stage to train, of %d" % len(STAGES))
    parser.add_argument("--work", type=Path, default=ROOT / "out/tiny-model/state.pt")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533"}
    if options.processes == 1:
        train(0, options)
    else:
        torch.multiprocessing.spawn(train, (options,), options.processes)
