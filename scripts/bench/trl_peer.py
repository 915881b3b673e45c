"""Times TRL's GRPO steps, on the CPU or with CUDA, in the manner of `braid bench`, for a comparison in the same session.

python scripts/bench/trl_peer.py MODEL --prompts 8 --group 16 --words 10 --mode full --beta 0 --steps 12

Needs torch, transformers, trl, peft and datasets. Completions are of exactly 2 * words + 4 tokens; two steps warm up.
"""
import argparse
import random
import re
import statistics
import tempfile
import time

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

WARM_UP = 2


class StepTimes(TrainerCallback):
    """Wall-clock and CPU seconds of every optimiser step."""

    def __init__(self):
        self.seconds = []
        self.cpu_seconds = []

    def on_step_begin(self, *args, **kwargs):
        self.began = time.perf_counter(), time.process_time()

    def on_step_end(self, *args, **kwargs):
        self.seconds.append(time.perf_counter() - self.began[0])
        self.cpu_seconds.append(time.process_time() - self.began[1])


def shared_words(completions, **columns):
    """A cheap placeholder reward; its time is negligible in both programs."""
    return [float(len(set(text.split()))) for text in completions]


def one_token_words(tokenizer):
    """The words that take one token behind a space, as Braid's benchmark draws them."""
    texts = [tokenizer.decode([index]) for index in range(len(tokenizer))]
    words = [text for text in texts if re.fullmatch(r"\s?[^\W\d_]+", text)]
    spaced = [text for text in words if text[0].isspace()]
    return [text.strip() for text in spaced or words]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("model")
    for name, default in (("prompts", 8), ("group", 16), ("words", 10), ("steps", 12), ("threads", 2)):
        options.add_argument(f"--{name}", type=int, default=default)
    options.add_argument("--mode", choices=["full", "lora"], default="full")
    options.add_argument("--beta", type=float, default=0.0)
    options.add_argument("--bf16", action="store_true", help="compute in bfloat16 by autocast, as GRPOConfig does by default")
    options.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    asked = options.parse_args()
    torch.set_num_threads(asked.threads)

    tokenizer = AutoTokenizer.from_pretrained(asked.model, padding_side="left")
    words = one_token_words(tokenizer)
    draw = random.Random(0)
    prompt = lambda: "<a> " + " ".join(draw.choices(words, k=asked.words)) + " <b> " + " ".join(draw.choices(words, k=asked.words)) + " <out>"
    rows = Dataset.from_list([{"prompt": prompt()} for _ in range(asked.prompts * (asked.steps + 4))])
    length = 2 * asked.words + 4
    times = StepTimes()
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(asked.model, dtype=torch.float32),
            reward_funcs=shared_words,
            train_dataset=rows,
            processing_class=tokenizer,
            peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM") if asked.mode == "lora" else None,
            callbacks=[times],
            args=GRPOConfig(
                output_dir=folder,
                max_steps=asked.steps,
                per_device_train_batch_size=asked.prompts * asked.group,
                num_generations=asked.group,
                max_completion_length=length,
                generation_kwargs={"min_new_tokens": length},
                beta=asked.beta,
                learning_rate=1e-5,
                use_cpu=asked.device == "cpu",
                bf16=asked.bf16,
                gradient_checkpointing=False,
                report_to="none",
                save_strategy="no",
                disable_tqdm=True,
            ),
        )
        trainer.train()
    counted = times.seconds[WARM_UP:]
    print(f"TRL median {statistics.median(counted):.3f} s per step (min {min(counted):.3f}, max {max(counted):.3f}), CPU {statistics.median(times.cpu_seconds[WARM_UP:]):.3f} s")


main()
