"""What the GRPO scripts share: TRL's own trainer on a tiny model, fed with rollouts and rewards that we choose."""

import functools
import os
import tempfile

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

PAD, EOS = 0, 2


def word_tokenizer(size: int) -> PreTrainedTokenizerFast:
    """Token i is the word t<i>."""
    tokenizer = Tokenizer(models.WordLevel({f"t{i}": i for i in range(size)}, unk_token="t1"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=f"t{PAD}", eos_token=f"t{EOS}")


@functools.cache
def tiny_folder() -> str:
    """A folder with a tiny random Llama: with beta > 0, TRL loads its reference model from there."""
    config = LlamaConfig(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        vocab_size=16, pad_token_id=PAD, bos_token_id=1, eos_token_id=EOS,
    )
    folder = tempfile.mkdtemp()
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def tiny_model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(tiny_folder())


def reward_function(name: str, source):
    """A reward function called `name` whose values come from `source()`; None where it doesn't apply."""

    def reward(completions, **_):
        return source()

    reward.__name__ = name
    return reward


def make_trainer(model, prompts, rollout=None, rewards=None, **settings) -> GRPOTrainer:
    """A GRPOTrainer in float32 on the CPU. Settings are GRPOConfig's; rewards is a list of (name, source)."""
    folder = tempfile.mkdtemp()
    options = dict(
        output_dir=folder, bf16=False, use_cpu=True, report_to=[], logging_steps=1, save_strategy="no",
        disable_tqdm=True, shuffle_dataset=False, temperature=1.0, num_generations=4, per_device_train_batch_size=4,
        gradient_accumulation_steps=1, max_completion_length=8, gradient_checkpointing=False,
    )
    return GRPOTrainer(
        model=model,
        reward_funcs=[reward_function(name, source) for name, source in (rewards or [("first", lambda: [0.0])])],
        args=GRPOConfig(**{**options, **settings}),
        train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in prompts]),
        processing_class=word_tokenizer(model.config.vocab_size),
        rollout_func=rollout,
    )


def numbers(tensor) -> list:
    """float32 values with the nine digits that give them back exactly."""
    return [float(f"{value:.9g}") for value in tensor.detach().flatten().tolist()]


def logged(metrics: dict) -> dict:
    """The lists of values that TRL collected since its last log, NaN as null."""
    return {name: [None if v != v else v for v in values] for name, values in metrics.items()}
