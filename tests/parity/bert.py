"""Makes fixtures/bert/ (a small random BERT encoder with its tokenizer) and fixtures/bert.json: the mean-pooled,
normalised vectors of some texts by transformers' BertModel (pip install torch transformers).

Run from the repository root: python tests/parity/bert.py
"""

import json
import pathlib

import torch
from tokenizers import BertWordPieceTokenizer
from tokenizers.processors import BertProcessing
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

TEXTS = [
    "The kettle is on.",
    "THE KETTLE is on",
    "Café plans: seven trains, no tickets!",
    "unbelievably long and unknownish words zzzq",
    "",
    "one",
]


def main() -> None:
    torch.manual_seed(5)
    folder = pathlib.Path(__file__).parent / "fixtures" / "bert"
    folder.mkdir(parents=True, exist_ok=True)
    wordpiece = BertWordPieceTokenizer(lowercase=True)
    wordpiece.train_from_iterator(TEXTS * 3 + ["train ticket kettle plan café word"], vocab_size=160, min_frequency=1)
    ends = [(token, wordpiece.token_to_id(token)) for token in ("[SEP]", "[CLS]")]
    wordpiece._tokenizer.post_processor = BertProcessing(*ends)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=wordpiece._tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        pad_token="[PAD]", mask_token="[MASK]",
    )
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=40, initializer_range=0.6,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    for name, parameter in model.named_parameters():
        if "LayerNorm" in name or name.endswith("bias"):
            torch.nn.init.normal_(parameter, 1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.2)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    made = []
    for text in TEXTS:
        encoded = tokenizer(text, return_tensors="pt", truncation=True, max_length=40)
        with torch.no_grad():
            hidden = model(input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"]).last_hidden_state[0]
        vector = torch.nn.functional.normalize(hidden.mean(0), dim=0)
        made.append([text, encoded["input_ids"][0].tolist(), [round(x, 7) for x in vector.tolist()]])
    (folder.parent / "bert.json").write_text(json.dumps(made, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
