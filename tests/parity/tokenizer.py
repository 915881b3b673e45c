"""Makes fixtures/tokenizers/: small tokenizers in the manner of Llama 3, Qwen2 and BERT with chat templates, and in
tokenizers.json what transformers' fast tokenizers make of a set of nasty texts and of chats.

Run from the repository root: python tests/parity/tokenizer.py   (pip install tokenizers transformers)
"""

import json
import pathlib
import shutil

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
DATE = "26 Jul 2024"
LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CORPUS = [
    "The ferry leaves at seven, whatever the weather says; nobody who lives here has ever thought of complaining.",
    "She'd counted 1,204 steps on Monday and 1204 again on Tuesday: the tower hadn't changed, she had.",
    "Wer früh aufsteht, sieht die Straße leer. Ça dépend du café, dit-elle. El niño corrió más rápido.",
    "Поезд идёт на север. 東京の夜は静かです。 我们明天去北京看看。 Καλημέρα κόσμε. مرحبا بالعالم",
    "def weave(a, b):\n\tfor x, y in zip(a, b):\n\t\tyield x\n\t\tyield y\n\n    return None  # done!\r\n",
    "Two processes keep their state and speak in turn. Do this all in one turn, word by word by word.",
    "We're sure they'll say it's what I'd've done, aren't we? YES WE'RE SURE THEY'LL SAY IT'S FINE.",
    "🙂🙃 smile 🙂 and wave 👋🏽, flags 🇩🇪🇯🇵, a family 👨‍👩‍👧‍👦 and a heart ❤️.",
] * 4
TEXTS = [
    "",
    " ",
    "   ",
    "\n",
    "\r\n\r\n",
    "\t\tindented\n    four\n",
    "Hello, world!",
    " leading space",
    "trailing space ",
    "two  spaces   three    four",
    "line one\nline two\r\nline three\r\r\nfour",
    "end of line   \n   next",
    "it's I'm you're we've he'll she'd DON'T CAN'T 'S 'LL",
    "isn’t it “quoted” — dash … ellipsis",
    "7 42 123 1234 12345 1234567890 3.14159 1,204 0x1F ½ ² ٣٤",
    "café naïve Straße ŒUVRE İstanbul ﬁne",
    "cafe\u0301 nai\u0308ve A\u030angstro\u0308m",  # combining marks
    "e\u0323\u0302 \u1112\u1161\u11ab 한국어 \uac01\u11a8",
    "東京都に行く。我们去北京！ ภาษาไทย हिन्दी தமிழ் עברית العربية",
    "🙂 👋🏽 👨‍👩‍👧‍👦 🇩🇪🇯🇵 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣",
    "zero\u200bwidth\u200djoin\ufeff nbsp\u00a0here \u2003em \u3000ideographic",
    "soft\u00adhyphen \u202eright-to-left\u202c tab\tvt\x0bff\x0cnul\x01",
    "line\u2028separator paragraph\u2029end next\u0085line",
    "𝕬𝖇𝖈 𐍈 \U0001f9ff ﷽ ꧁꧂ \U000e0041",
    "!!! ??? ... ---- ==== /* */ <!-- --> \\n {{x}} $1 @user #tag",
    "https://example.org/a?b=c&d=e#f user.name+tag@mail.example",
    "snake_case camelCase PascalCase kebab-case x_1 __init__",
    "the the the of of and and tower ferry weather process processes",
    "unaffable zzzzzzzzzzzzzzzzzzzz qwertyuiopasdfghjklzxcvbnm" + "x" * 120,
    "<|begin_of_text|>Hi<|eot_id|>",
    "a<|eot_id|>b <|eot_id|> c<|eot_id|><|eot_id|>",
    "<|im_start|>user\nHi there<|im_end|>\n",
    "<|eot_id |> < |eot_id|> <|eot_id| > <|im_start",
    "[CLS] hello [SEP] [MASK] [UNK]",
    "Do this all in one turn. Then do this all in one turn.",
    "do this all in one turn Do this all in one turn.Do this all in one turn.",
    " word by word  word by wordly ",
    "<tool>x</tool> <tool> spaced </tool>",
    "\ud7ff\ue000\ufffd",
]
LLAMA_CHAT = """{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = strftime_now("%d %b %Y") %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set opening = messages[0]['content'] | trim %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set opening = '' %}
    {%- set turns = messages %}
{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nThe date is ' + date_string + '.\\n\\n' + opening + '<|eot_id|>' }}
{%- for turn in turns %}
    {%- if turn.role not in ['user', 'assistant'] %}
        {{- raise_exception('Only users and assistants take turns.') }}
    {%- endif %}
    {{- '<|start_header_id|>' + turn.role + '<|end_header_id|>\\n\\n' + turn['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
CHATML = """{%- if tools %}{{- 'Tools: ' + tools | tojson }}{%- endif %}
{%- set ns = namespace(last_user=-1) %}
{%- for message in messages[::-1] %}
    {%- set index = messages | length - 1 - loop.index0 %}
    {%- if ns.last_user < 0 and message.role == 'user' %}{%- set ns.last_user = index %}{%- endif %}
{%- endfor %}
{% if messages[0].role != 'system' %}
<|im_start|>system
You answer briefly. Today is {{ strftime_now('%Y-%m-%d, %A %d %B') }}.<|im_end|>
{% endif %}
{% for message in messages %}
    {% set content = message.content %}
    {% if message.role == 'assistant' and '</note>' in content %}
        {% set content = content.split('</note>')[-1].lstrip('\\n') %}
    {% endif %}
    {%- if loop.index0 == ns.last_user and not loop.first %}{{- '<|im_start|>' + message.role + ' (last)\\n' }}
    {%- else %}{{- '<|im_start|>' + message.role + '\\n' }}{%- endif %}
    {{- content + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- if enable_thinking is defined and not enable_thinking %}{{- '<note></note>' }}{%- endif %}{%- endif %}
"""
CHATS = [
    [dict(role="user", content="Interleave A and B.")],
    [dict(role="system", content="  Be brief.\n"), dict(role="user", content=" Hi {{ there }} ")],
    [dict(role="user", content="One"), dict(role="assistant", content="<note>hm</note>\n\nTwo"), dict(role="user", content="Drei\n\n<|eot_id|> ❤️")],
    [dict(role="user", content="")],
]


def byte_level_bpe(pattern: str, specials: list[str], vocabulary: int, nfc: bool, ignore_merges: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=vocabulary, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in specials])
    return tokenizer


def llama3() -> PreTrainedTokenizerFast:
    specials = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
    tokenizer = byte_level_bpe(LETTERS + r"|\p{N}{1,3}" + REST, specials, 700, nfc=False, ignore_merges=True)
    begin = "<|begin_of_text|>"
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single=f"{begin} $A", pair=f"{begin} $A {begin}:1 $B:1",
                                      special_tokens=[(begin, tokenizer.token_to_id(begin))]),
    ])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin, eos_token="<|eot_id|>", chat_template=LLAMA_CHAT)


def qwen2() -> PreTrainedTokenizerFast:
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = byte_level_bpe(LETTERS + r"|\p{N}" + REST, specials, 600, nfc=True, ignore_merges=False)
    # Like Qwen's <tool_call>: whole tokens that decoding keeps.
    tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=False), AddedToken("</tool>", special=False, normalized=False)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=CHATML)


def wordpiece() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=500, special_tokens=names, show_progress=False))
    # Whole sentences as one token each: taken literally, after normalising, with the spaces before them.
    tokenizer.add_tokens([
        AddedToken("Do this all in one turn.", normalized=False),
        AddedToken("then do this", normalized=True),
        AddedToken("word by word", lstrip=True, normalized=False),
    ])
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", eos_token="[SEP]",
                                   clean_up_tokenization_spaces=False)


def references(name: str, folder: pathlib.Path) -> dict:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rows = []
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False)
        rows.append(dict(text=text, ids=ids, special=tokenizer.encode(text), decoded=tokenizer.decode(ids, skip_special_tokens=True)))
    chats = []
    if tokenizer.chat_template:
        # ChatML's asks for the day itself: the tests pin it the same way.
        options = dict(tokenize=False, add_generation_prompt=True, date_string=DATE)
        chats = [dict(messages=m, text=tokenizer.apply_chat_template(m, **options)) for m in CHATS]
    return dict(name=name, size=len(tokenizer), rows=rows, chats=chats)


def pin_date() -> None:
    """transformers asks for now: it gets the day that Braid tells every template."""
    import datetime

    from transformers.utils import chat_template_utils

    class Pinned(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2024, 7, 26, tzinfo=tz)

    chat_template_utils.datetime = Pinned


def main() -> None:
    pin_date()
    made = []
    shutil.rmtree(FIXTURES / "tokenizers", ignore_errors=True)
    for name, build in dict(llama3=llama3, qwen2=qwen2, wordpiece=wordpiece).items():
        folder = FIXTURES / "tokenizers" / name
        build().save_pretrained(folder)
        made.append(references(name, folder))
    (FIXTURES / "tokenizers.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
