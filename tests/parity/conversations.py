"""Makes fixtures/conversations.json: token ids of conversations by transformers' apply_chat_template, with the chat
templates of Qwen2.5, Qwen3, Llama 3, Llama 3.2, Gemma 3, Phi-3 and Phi-3.5 (as TRL has them), SmolLM2 and Mistral 7B v0.3,
and one in the manner of SmolLM3; and which tokens TRL's assistant_only_loss trains on, by its training templates.

The tokenizer is fixtures/tokenizers/qwen2 with each family's control tokens added: the tests do the same.

Run from the repository root: python tests/parity/conversations.py   (pip install transformers trl)
"""

import json
import pathlib

import trl
from tokenizers import AddedToken
from transformers import AutoTokenizer

import jinja_cases
from tokenizer import FIXTURES, pin_date

TEMPLATES = pathlib.Path(trl.__file__).parent / "chat_templates"
SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# Metadata with the date, a reasoning mode from the system message, tools as XML, empty thoughts before answers.
SMOLLM3 = """{%- if enable_thinking is not defined %}{%- set enable_thinking = true %}{%- endif %}
{%- set mode = "/think" if enable_thinking else "/no_think" %}
{%- set system = messages[0].content if messages[0].role == "system" else "" %}
{%- if "/no_think" in system %}{%- set mode = "/no_think" %}{%- endif %}
{%- set system = system.replace("/no_think", "").replace("/think", "").rstrip() %}
{{- "<|im_start|>system\\n## Metadata\\n\\nKnowledge Cutoff Date: June 2025\\n" }}
{{- "Today Date: " ~ strftime_now("%d %B %Y") ~ "\\nReasoning Mode: " + mode + "\\n\\n## Custom Instructions\\n\\n" }}
{{- (system if system else "You are a helpful AI assistant.") + "\\n\\n" }}
{%- if tools %}{{- "### Tools\\n\\n<tools>\\n" }}{%- for tool in tools %}{{- tool | string + "\\n" }}{%- endfor %}{{- "</tools>\\n" }}{%- endif %}
{{- "<|im_end|>\\n" }}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else "" %}
    {%- if message.role == "user" %}{{ "<|im_start|>user\\n" + content + "<|im_end|>\\n" }}
    {%- elif message.role == "assistant" %}
        {%- if message.tool_calls %}
            {%- for call in message.tool_calls %}{{ "<|im_start|>assistant\\n" }}{% generation %}{{ "<tool_call>" + call.function | tojson + "</tool_call><|im_end|>\\n" }}{% endgeneration %}{%- endfor %}
        {%- else %}
            {{- "<|im_start|>assistant\\n" if mode == "/think" else "<|im_start|>assistant\\n<think>\\n\\n</think>\\n" }}
            {%- generation %}{{ content.lstrip("\\n") + "<|im_end|>\\n" }}{% endgeneration %}
        {%- endif %}
    {%- elif message.role == "tool" %}{{ "<|im_start|>user\\n" + content + "<|im_end|>\\n" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {%- if mode == "/think" %}{{ "<|im_start|>assistant\\n" }}{%- else %}{{ "<|im_start|>assistant\\n<think>\\n\\n</think>\\n" }}{%- endif %}
{%- endif %}"""

CHATML = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]
LLAMA = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
PHI = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"]
MISTRAL_TOKENS = ["<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"]


def file(name: str) -> str:
    return (TEMPLATES / f"{name}.jinja").read_text()


def marked(template: str) -> str:
    """A template that marks what the assistant writes, for families that TRL has no training template for."""
    turn = '{{- " " + message["content"]|trim + eos_token}}'
    calls = template.index('{{- "[TOOL_CALLS] [" }}')
    after = template.index('{%- elif message["role"] == "assistant" %}')
    body = template[calls:after]
    return template.replace(body, "{% generation %}" + body + "{% endgeneration %}").replace(
        turn, "{% generation %}" + turn + "{% endgeneration %}"
    )


MISTRAL = jinja_cases.FAMILIES["mistral"][0]
# Name: template, TRL's training template, control tokens, what begins a text, what ends a turn.
FAMILIES = {
    "Qwen2.5": ("qwen2_5", file("qwen2_5_training"), CHATML, None, "<|im_end|>"),
    "Qwen3": ("qwen3", file("qwen3_training"), CHATML, None, "<|im_end|>"),
    "Llama 3": ("llama3", file("llama3_training"), LLAMA, "<|begin_of_text|>", "<|eot_id|>"),
    "Llama 3.2": ("llama3_2", None, LLAMA, "<|begin_of_text|>", "<|eot_id|>"),
    "Gemma 3": ("gemma3", file("gemma3_training"), ["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"], "<bos>", "<end_of_turn>"),
    "SmolLM2": (SMOLLM2, None, CHATML, "<|im_start|>", "<|im_end|>"),
    "SmolLM3": (SMOLLM3, SMOLLM3, CHATML, None, "<|im_end|>"),
    "Phi-3": ("phi3", file("phi3_training"), PHI, None, "<|end|>"),
    "Phi-3.5": ("phi3_5", file("phi3_5_training"), PHI, None, "<|end|>"),
    "Mistral": (MISTRAL, marked(MISTRAL), MISTRAL_TOKENS, "<s>", "</s>"),
}

SYSTEM = {"role": "system", "content": "You answer briefly.\nAlways."}
HI = {"role": "user", "content": "Hi there, it's 7:30! Ça va? 🙂"}
HELLO = {"role": "assistant", "content": "Hello. 東京 is far,\n\n  but fine."}
NEXT = {"role": "user", "content": "  And {\"a\": 1}?  "}
THOUGHT = {"role": "assistant", "content": "<think>\nOne and two.\n</think>\n\nThree."}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Zürich", "days": 2, "units": ["C", None]}}}]}
RESULT = {"role": "tool", "tool_call_id": "call00001", "name": "weather", "content": "sunny, 21"}
SAID = {"role": "assistant", "content": "It is sunny."}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather, \"soon\".", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}]
CONVERSATIONS = [
    dict(messages=[HI, HELLO]),
    dict(messages=[SYSTEM, HI, HELLO]),
    dict(messages=[SYSTEM, HI, HELLO, NEXT, SAID]),
    dict(messages=[HI, HELLO, NEXT, SAID, HI, THOUGHT]),
    dict(messages=[HI, THOUGHT, NEXT, THOUGHT]),
    dict(messages=[HI, HELLO, NEXT]),
    dict(messages=[HI, CALL, RESULT, SAID], tools=TOOLS),
    dict(messages=[SYSTEM, HI, CALL, RESULT, SAID, NEXT, CALL]),
    dict(messages=[HI, CALL, RESULT], tools=TOOLS),
]


def tokenizer_of(tokens, bos, eos):
    tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "tokenizers" / "qwen2")
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in tokens])
    tokenizer.eos_token = eos
    if bos is not None:
        tokenizer.bos_token = bos
    return tokenizer


def ids_of(tokenizer, conversation, **options):
    """What apply_chat_template gives; None: the template refuses the conversation."""
    try:
        return tokenizer.apply_chat_template(conversation["messages"], tools=conversation.get("tools"), return_dict=True, **options)
    except Exception:
        return None


def main() -> None:
    pin_date()
    made = []
    for name, (template, training, tokens, bos, eos) in FAMILIES.items():
        tokenizer = tokenizer_of(tokens, bos, eos)
        # TRL's own files stay where they are: the fixture names them.
        own = TEMPLATES / f"{template}.jinja" if len(template) < 20 else None
        template = template if own is None else own.read_text()
        rows = []
        for index, conversation in enumerate(CONVERSATIONS):
            messages = conversation["messages"]
            asked = {**conversation, "messages": messages[:-1] if messages[-1]["role"] == "assistant" else messages}
            tokenizer.chat_template = template
            whole, prompt = ids_of(tokenizer, conversation), ids_of(tokenizer, asked, add_generation_prompt=True)
            row = dict(conversation=index, whole=whole and whole["input_ids"], prompt=prompt and prompt["input_ids"])
            if training is not None and messages[-1]["role"] == "assistant":
                tokenizer.chat_template = training
                masked = ids_of(tokenizer, conversation, return_assistant_tokens_mask=True)
                if masked is not None:
                    row["trained"] = dict(ids=masked["input_ids"], mask=masked["assistant_masks"])
            rows.append(row)
        made.append(dict(name=name, template=template if own is None else None, file=own and own.name, tokens=tokens, bos=bos, eos=eos, rows=rows))
    fixture = dict(conversations=CONVERSATIONS, families=made)
    (FIXTURES / "conversations.json").write_text(json.dumps(fixture, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
