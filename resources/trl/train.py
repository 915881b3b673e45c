"""
A stage of Braid, trained by TRL's GRPOTrainer: settings.json has its configuration, train.jsonl its prompts.

    python train.py [--model NAME_OR_FOLDER] [--output DIR]
"""

import argparse
import json
from pathlib import Path

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from reward import reward_functions

HERE = Path(__file__).resolve().parent


def read_records(name: str) -> list[dict]:
    file = HERE / name
    # Not splitlines(): texts may contain its other line breaks, such as U+2028.
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line] if file.exists() else []


class BraidTrainer(GRPOTrainer):
    """GRPOTrainer with Braid's prompt ids, and completions logged of training steps only."""

    prompt_ids: dict[str, list[int]] = {}

    def _tokenize_prompts(self, prompts):
        # The ids that Braid sends: its chat template with a fixed date, control tokens in quoted texts as characters.
        return [list(self.prompt_ids[prompt]) for prompt in prompts], None, {}

    def log(self, logs, start_time=None):
        # An evaluation, or the summary at the end, would replace the step's completions by others.
        wanted = self.log_completions
        self.log_completions = wanted and self.model.training and "train_runtime" not in logs
        super().log(logs, start_time)
        self.log_completions = wanted


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="the model's folder or name on the Hugging Face Hub, if it isn't where it was")
    parser.add_argument("--output", default=str(HERE / "output"), help="folder for checkpoints and logs")
    options = parser.parse_args()

    settings = json.loads((HERE / "settings.json").read_text("utf-8"))
    train, test = read_records("train.jsonl"), read_records("test.jsonl")[: settings["eval_records"]]
    source = options.model or settings["model"]
    tokenizer = AutoTokenizer.from_pretrained(source, padding_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    has_bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    bf16 = settings.get("compute_dtype") == "bfloat16" or (settings["base_weights"] != "float32" and has_bf16)
    lora = settings["lora"]
    dtype = torch.bfloat16 if bf16 and lora is not None else torch.float32
    model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype)
    adapter = HERE / "adapter"
    is_warm = lora is not None and adapter.exists()
    if is_warm:
        model = PeftModel.from_pretrained(model, str(adapter), is_trainable=True)

    evaluation = {}
    if settings["eval_steps"] > 0 and test:
        evaluation = {
            "eval_strategy": "steps",
            "eval_steps": settings["eval_steps"],
            "eval_on_start": True,
            "num_generations_eval": 1,
            "per_device_eval_batch_size": min(len(test), settings["args"]["per_device_train_batch_size"]),
        }
    args = GRPOConfig(
        output_dir=options.output,
        bf16=bf16,
        use_cpu=not torch.cuda.is_available(),
        logging_steps=1,
        log_completions=True,
        num_completions_to_print=0,
        **settings["args"],
        **evaluation,
    )
    columns = ["id", "split", "prompt", "record"]
    BraidTrainer.prompt_ids = {row["prompt"]: row["prompt_ids"] for row in train + test}
    trainer = BraidTrainer(
        model=model,
        reward_funcs=reward_functions(settings, {tokenizer.eos_token_id, tokenizer.pad_token_id}),
        args=args,
        train_dataset=Dataset.from_list([{name: row[name] for name in columns} for row in train]),
        eval_dataset=Dataset.from_list([{name: row[name] for name in columns} for row in test]) if evaluation else None,
        processing_class=tokenizer,
        peft_config=LoraConfig(task_type="CAUSAL_LM", **lora) if lora is not None and not is_warm else None,
    )
    trainer.train()
    trainer.save_state()


if __name__ == "__main__":
    main()
