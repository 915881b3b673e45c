"""Makes fixtures/classifiers/ (small random sequence classifiers) and classifiers.json: the logits that transformers gives
to some texts and to a conversation. The tokenizer is that of fixtures/bert/ (run bert.py before).

Run from the repository root: python tests/parity/classifiers.py   (pip install torch transformers)
"""

import json
import pathlib
import shutil

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    LlamaConfig,
    LlamaForSequenceClassification,
    MPNetConfig,
    MPNetForSequenceClassification,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
TEXTS = ["The kettle is on.", "Café plans: seven trains, no tickets!", "one", "unbelievably long and unknownish words zzzq"]
CHAT = [{"role": "user", "content": "The kettle?"}, {"role": "assistant", "content": "The kettle is on."}]
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
DECODER = dict(
    vocab_size=160, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64,
)
ENCODER = dict(
    vocab_size=160, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
    max_position_embeddings=40, num_labels=2,
)


def cases(sep: int):
    # The last token of every text is [SEP]: as padding it must be passed over.
    yield "llama", LlamaForSequenceClassification(LlamaConfig(**DECODER, num_labels=1, pad_token_id=sep))
    yield "qwen2", Qwen2ForSequenceClassification(
        Qwen2Config(**DECODER, num_labels=3, pad_token_id=0, id2label={0: "bad", 1: "fair", 2: "good"})
    )
    yield "bert", BertForSequenceClassification(BertConfig(**ENCODER))
    yield "roberta", RobertaForSequenceClassification(RobertaConfig(**ENCODER, type_vocab_size=1, pad_token_id=1))
    yield "mpnet", MPNetForSequenceClassification(MPNetConfig(**ENCODER, pad_token_id=1))
    yield "distilbert", DistilBertForSequenceClassification(
        DistilBertConfig(vocab_size=160, dim=16, n_layers=2, n_heads=4, hidden_dim=24, max_position_embeddings=40)
    )
    # As in v3, with so few buckets that distances in these texts share them; then with keys of their own, as in v1's code.
    yield "deberta-v3", DebertaV2ForSequenceClassification(
        DebertaV2Config(
            **ENCODER, relative_attention=True, position_buckets=4, norm_rel_ebd="layer_norm", share_att_key=True,
            pos_att_type="p2c|c2p", position_biased_input=False, type_vocab_size=0, layer_norm_eps=1e-7,
        )
    )
    yield "deberta-v2", DebertaV2ForSequenceClassification(
        DebertaV2Config(
            **ENCODER, relative_attention=True, max_relative_positions=6, share_att_key=False, pos_att_type=["c2p", "p2c"],
            position_biased_input=True, type_vocab_size=2,
        )
    )


def main() -> None:
    torch.manual_seed(11)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(FIXTURES / "bert")
    tokenizer.chat_template = TEMPLATE
    made = {}
    for name, model in cases(tokenizer.convert_tokens_to_ids("[SEP]")):
        model.eval()
        for key, parameter in model.named_parameters():
            if "norm" in key.lower() and key.endswith("weight"):
                torch.nn.init.normal_(parameter, 1.0, 0.2)
            else:
                torch.nn.init.normal_(parameter, 0.0, 0.4)
        folder = FIXTURES / "classifiers" / name
        shutil.rmtree(folder, ignore_errors=True)
        model.save_pretrained(folder)
        with torch.no_grad():
            logits = [model(**tokenizer(text, return_tensors="pt", return_token_type_ids=False)).logits[0] for text in TEXTS]
            chat = tokenizer.apply_chat_template(CHAT, tokenize=False)
            ids = tokenizer(chat, return_tensors="pt", add_special_tokens=False, return_token_type_ids=False)
            chat_logits = model(**ids).logits[0]
        made[name] = {
            "texts": [[text, [round(x, 6) for x in row.tolist()]] for text, row in zip(TEXTS, logits)],
            "chat": [round(x, 6) for x in chat_logits.tolist()],
        }
    made["template"] = TEMPLATE
    made["conversation"] = CHAT
    (FIXTURES / "classifiers.json").write_text(json.dumps(made, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
