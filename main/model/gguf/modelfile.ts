/** Ollama's Modelfile for a GGUF file (github.com/ollama/ollama/blob/main/docs/modelfile.md). */
import { readChatSettings } from '../chat-settings.ts';
import { readChatTemplate } from '../chat-template.ts';
import type { ModelConfig } from '../config.ts';
import { loadTokenizer, readTokenizerConfig } from '../tokenizer.ts';

/** Chat formats by a token that only they have, in Ollama's template language. */
const FORMATS = [
  {
    sign: '<|start_header_id|>',
    template: `{{ if .System }}<|start_header_id|>system<|end_header_id|>

{{ .System }}<|eot_id|>{{ end }}{{ if .Prompt }}<|start_header_id|>user<|end_header_id|>

{{ .Prompt }}<|eot_id|>{{ end }}<|start_header_id|>assistant<|end_header_id|>

{{ .Response }}<|eot_id|>`,
  },
  {
    sign: '<|im_start|>',
    template: `{{ if .System }}<|im_start|>system
{{ .System }}<|im_end|>
{{ end }}{{ if .Prompt }}<|im_start|>user
{{ .Prompt }}<|im_end|>
{{ end }}<|im_start|>assistant
{{ .Response }}<|im_end|>`,
  },
  { sign: '[INST]', template: '[INST] {{ if .System }}{{ .System }} {{ end }}{{ .Prompt }} [/INST]{{ .Response }}' },
] as const;

/** A model without a chat template is given the prompt as it is. */
const PLAIN = '{{ .Prompt }}{{ .Response }}';

/** The file's text; `gguf` is the file's name beside it. */
export function modelfile(gguf: string, tokenizerFolder: string, { eosTokenIds }: ModelConfig): string {
  const chat = readChatTemplate(tokenizerFolder, readTokenizerConfig(tokenizerFolder));
  const format = chat === null ? { template: PLAIN } : FORMATS.find(({ sign }) => chat.includes(sign));
  const tokenizer = loadTokenizer(tokenizerFolder);
  const { system_prompt: system } = readChatSettings(tokenizerFolder);
  const stops = eosTokenIds.flatMap((id) => tokenizer.token(id) ?? []);
  return [
    `FROM ./${gguf}`,
    format === undefined
      ? "# The model's chat format isn't one that Braid knows: Ollama takes the template in the file."
      : `TEMPLATE """${format.template}"""`,
    ...(system === null ? [] : [`SYSTEM """${system.replaceAll('"""', "'''")}"""`]),
    ...stops.map((stop) => `PARAMETER stop "${stop}"`),
    '',
  ].join('\n');
}
