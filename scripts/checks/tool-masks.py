"""Compares the tokens and masks of a conversation with tools with those of TRL's tools loop, token by token:
    PYTHON scripts/checks/tool-masks.py TOKENIZER TEMPLATE...
PYTHON has trl==1.16.0; TOKENIZER is a folder with a tokenizer that has <|im_end|>, such as SmolLM2's; TEMPLATE one of
TRL's chat templates: equal are qwen2_5, qwen3, qwen3_instruct_2507 and qwen3_vl.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import trl
from transformers import AutoTokenizer
from trl.chat_template_utils import (
    add_response_schema,
    get_training_chat_template,
    is_chat_template_prefix_preserving,
)
from trl.trainer import grpo_trainer

TEMPLATES = Path(trl.__file__).parent / "chat_templates"
OWN = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]


def call(article):
    return '<tool_call>\n{"name": "price", "arguments": {"article": "%s"}}\n</tool_call>' % article


SAID = [f"Two things.\n{call('pen')}\n{call('notebook')}", call("lamp"), "Together 23 euros."]


def price(article):
    return {"pen": "2", "notebook": "5", "lamp": "16"}[article]


def ours(folder, turns):
    asked = json.dumps({"model": folder, "question": "How much?", "turns": turns})
    script = Path(__file__).with_suffix(".ts")
    return json.loads(subprocess.run(["node", script], input=asked, text=True, capture_output=True, check=True).stdout)


def theirs(tokenizer, prompt, turns, tools):
    prompts = [[{"role": "user", "content": prompt}]]
    template = None if is_chat_template_prefix_preserving(tokenizer) else get_training_chat_template(tokenizer)
    given = tokenizer.apply_chat_template(
        prompts[0], tools=tools, add_generation_prompt=True, return_dict=False, chat_template=template
    )
    left = iter(turns[1:])
    loop = SimpleNamespace(
        processing_class=tokenizer, _tokenizer=tokenizer, _is_vlm=False, chat_template=template,
        chat_template_kwargs={},
        tools=tools, environment_factories=None, use_vllm=False, max_tool_calling_iterations=8,
        max_completion_length=10_000, _sync_tool_dicts=[{"price": price}], _async_tool_dicts=[{}],
        model=SimpleNamespace(config=SimpleNamespace(text_config=None, max_position_embeddings=100_000)),
        _generate_single_turn=lambda *_, **__: ([list(next(left))], None),
    )
    loop._get_tool_suffix_ids = lambda messages: grpo_trainer.GRPOTrainer._get_tool_suffix_ids(loop, messages)
    first = grpo_trainer.parse_response(tokenizer, turns[0], prefix=given, tools=tools)
    mask, _, ids, *_ = grpo_trainer.GRPOTrainer._tool_call_loop(
        loop, prompts, [given], [list(turns[0])], [[first]], None, None, {}
    )
    return {"promptIds": given, "ids": ids[0], "mask": mask[0]}


for name in sys.argv[2:]:
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
    tokenizer.add_tokens(OWN)
    tokenizer.chat_template = (TEMPLATES / f"{name}.jinja").read_text()
    tokenizer.eos_token = "<|im_end|>"
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        add_response_schema(tokenizer)
        turns = [[*tokenizer.encode(said), tokenizer.eos_token_id] for said in SAID]
        mine = ours(folder, turns)
    other = theirs(tokenizer, mine["prompt"], turns, mine["tools"])
    for part, expected in other.items():
        pairs = zip(mine[part], expected)
        at = next((i for i, (own, their) in enumerate(pairs) if own != their), min(len(mine[part]), len(expected)))
        other_ids = f"DIFFERENT from {at}: {mine[part][at:at + 9]}, {expected[at:at + 9]}"
        found = "equal" if mine[part] == expected else other_ids
        print(f"{name} {part}: {len(mine[part])} and {len(expected)}, {found}")
