/** Chat templates of our own in the forms of well-known models. */

export interface ChatFormat {
  readonly template: string;
  readonly bos?: string;
  /** The tokenizer begins every text with it. */
  readonly adds?: boolean;
  readonly noSystem?: boolean;
  readonly dated?: boolean;
}

export const CHATS: Readonly<Record<string, ChatFormat>> = {
  // A system block that is always there, with a date.
  'Llama-3.2': {
    bos: '<|begin_of_text|>',
    adds: true,
    dated: true,
    template: `{{- bos_token }}
{%- if date_string is not defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}
{%- set said = messages[0].content | trim if messages[0].role == 'system' else '' %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nKnowledge until: December 2023\\nDay: ' ~ date_string ~ '\\n\\n' ~ said ~ '<|eot_id|>' }}
{%- for m in messages if m.role != 'system' %}
{{- '<|start_header_id|>' ~ m.role ~ '<|end_header_id|>\\n\\n' ~ m.content | trim ~ '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`,
  },
  // A default system prompt.
  'Qwen2.5': {
    template: `{%- if messages[0].role != 'system' %}{{- '<|im_start|>system\\nYou are a model of ours.<|im_end|>\\n' }}{%- endif %}
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`,
  },
  // Thoughts in the last answer only, and a switch that closes them at once.
  Qwen3: {
    template: `{%- for m in messages %}
{%- set text = m.content.split('</think>')[-1].lstrip('\\n') if m.role == 'assistant' else m.content %}
{{- '<|im_start|>' + m.role + '\\n' + text + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}`,
  },
  // The system message begins the user's first one; the answering role has another name.
  Gemma: {
    bos: '<bos>',
    adds: true,
    template: `{{ bos_token }}{%- set first = '' -%}{%- set turns = messages -%}
{%- if messages[0].role == 'system' -%}{%- set first = messages[0].content + '\\n\\n' -%}{%- set turns = messages[1:] -%}{%- endif -%}
{%- for m in turns -%}
{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + (first if loop.first else '') }}{{ m.content | trim }}{{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}`,
  },
  'Gemma without system messages': {
    bos: '<bos>',
    adds: true,
    noSystem: true,
    template: `{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system messages') }}{% endif %}
{%- for m in messages %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + m.content + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}`,
  },
  // No line breaks, a separator of its own.
  'Phi-4': {
    template: `{% for m in messages %}{{ '<|im_start|>' + m.role + '<|im_sep|>' + m.content + '<|im_end|>' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}`,
  },
  // A default system prompt with a date.
  Granite: {
    dated: true,
    template: `{%- if messages[0].role == 'system' %}{%- set said = messages[0].content %}{%- set turns = messages[1:] %}
{%- else %}{%- set said = 'Day: ' + strftime_now('%B %d, %Y') + '.\\nYou are ours.' %}{%- set turns = messages %}{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + said + '<|end_of_text|>\\n' }}
{%- for m in turns %}{{- '<|start_of_role|>' + m.role + '<|end_of_role|>' + m.content + '<|end_of_text|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_of_role|>assistant<|end_of_role|>' }}{%- endif %}`,
  },
  // The system message begins the user's last one.
  Mistral: {
    bos: '<s>',
    adds: true,
    template: `{%- if messages[0].role == 'system' %}{%- set said = messages[0].content %}{%- set turns = messages[1:] %}
{%- else %}{%- set said = '' %}{%- set turns = messages %}{%- endif %}
{{- bos_token }}
{%- for m in turns %}
{%- if m.role == 'user' %}{{- '[INST] ' }}{%- if loop.last and said %}{{- said + '\\n\\n' }}{%- endif %}{{- m.content + '[/INST]' }}
{%- else %}{{- ' ' + m.content + '</s>' }}{%- endif %}
{%- endfor %}`,
  },
};
