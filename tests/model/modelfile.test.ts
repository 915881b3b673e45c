import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../main/model/config.ts';
import { modelfile } from '../../main/model/gguf/modelfile.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { CHATS } from './chat-formats.ts';
import { goTemplate, ollamaChat } from './go-template.ts';

const root = temporaryFolderOfFile();

interface Folder {
  readonly template?: string;
  readonly bos?: string;
  /** The tokenizer itself begins every text with the begin token. */
  readonly adds?: boolean;
  readonly chat?: Readonly<Record<string, unknown>>;
}

let made = 0;
/** A tokenizer's folder; its tokens are `<end>` (0), `</s>` (1) and the begin token. */
function folder({ template, bos, adds = false, chat }: Folder): string {
  const into = join(root, String(made++));
  mkdirSync(into);
  const write = (name: string, value: unknown): void => writeFileSync(join(into, name), JSON.stringify(value));
  const tokens = ['<end>', '</s>', ...(bos === undefined ? [] : [bos])];
  const added = tokens.map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  write('tokenizer.json', {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
    decoder: { type: 'ByteLevel' },
    post_processor: adds
      ? {
          type: 'TemplateProcessing',
          single: [{ SpecialToken: { id: bos, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
          pair: [],
          special_tokens: { [bos ?? '']: { id: bos, ids: [2], tokens: [bos] } },
        }
      : null,
    model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges: [] },
  });
  const { system_prompt = null, chat_template_kwargs = {} } = chat ?? {};
  if (chat !== undefined) write('chat_settings.json', { system_prompt, chat_template_kwargs });
  write('tokenizer_config.json', {
    ...(bos !== undefined && { bos_token: bos }),
    eos_token: '</s>',
    ...(template !== undefined && { chat_template: template }),
  });
  return into;
}

const config = { eosTokenIds: [0] } as unknown as ModelConfig;
const written = (into: string): string => modelfile('m.gguf', into, config);
const templateOf = (file: string): string => /^TEMPLATE """(.*?)"""$/ms.exec(file)?.[1] ?? '';

const SYSTEM: ChatMessage = { role: 'system', content: 'Be {brief}.' };
const TURNS: readonly ChatMessage[] = [
  { role: 'user', content: 'One "and" two' },
  { role: 'assistant', content: 'Three' },
  { role: 'user', content: 'Four' },
  { role: 'assistant', content: 'Five' },
  { role: 'user', content: 'Six' },
];
const CONVERSATIONS = [TURNS.slice(0, 1), TURNS.slice(0, 3), TURNS];

describe('modelfile', () => {
  it.each(Object.entries(CHATS))('renders chats with %s as the chat template does', (_, { bos, adds, ...format }) => {
    const into = folder({ ...format, ...(bos !== undefined && { bos, adds: adds === true }) });
    const file = written(into);
    const template = templateOf(file);
    const tokenizer = loadTokenizer(into);
    const begin = adds === true ? (bos ?? '') : '';
    for (const turns of CONVERSATIONS) {
      expect(begin + goTemplate(template, ollamaChat(turns))).toBe(tokenizer.chat(turns));
      if (format.noSystem === true) continue;
      const said = [SYSTEM, ...turns];
      expect(begin + goTemplate(template, ollamaChat(said))).toBe(tokenizer.chat(said));
    }
    expect(file.includes('takes no system message')).toBe(format.noSystem === true);
    expect(file.includes('prints the date')).toBe(format.dated === true);
    expect(file).not.toContain('Earlier turns');
  });

  const chat = (name: string, more: Folder = {}): string => written(folder({ ...CHATS[name], ...more }));

  it('keeps what a template has without a system message: a date, or a default system prompt', () => {
    const llama = chat('Llama-3.2');
    expect(goTemplate(templateOf(llama), ollamaChat(TURNS.slice(0, 1)))).toBe(
      '<|start_header_id|>system<|end_header_id|>\n\nKnowledge until: December 2023\nDay: 26 Jul 2024\n\n<|eot_id|>' +
        '<|start_header_id|>user<|end_header_id|>\n\nOne "and" two<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
    );
    expect(llama).toContain('# The chat template prints the date. Here it is always 26 Jul 2024');
    // Once, not in front of every turn.
    expect(goTemplate(templateOf(chat('Qwen2.5')), ollamaChat(TURNS)).match(/You are a model of ours/g)).toHaveLength(
      1,
    );
  });

  it("applies the run's chat settings: the template's switches, and the system prompt as SYSTEM", () => {
    const settings = { system_prompt: 'Say """no""".', chat_template_kwargs: { enable_thinking: false } };
    const file = chat('Qwen3', { chat: settings });
    expect(goTemplate(templateOf(file), ollamaChat(TURNS.slice(0, 1)))).toMatch(/assistant\n<think>\n\n<\/think>\n\n$/);
    expect(goTemplate(templateOf(chat('Qwen3')), ollamaChat(TURNS.slice(0, 1)))).toMatch(/assistant\n$/);
    expect(file).toContain(`SYSTEM """Say '''no'''."""`);
    // A date that the run has set is no limit.
    const dated = chat('Llama-3.2', { chat: { chat_template_kwargs: { date_string: '1 May 2025' } } });
    expect(dated).toContain('Day: 1 May 2025');
    expect(dated).not.toContain('prints the date');
  });

  it('leaves the begin token to the tokenizer where that adds it, and writes it otherwise', () => {
    expect(templateOf(chat('Llama-3.2'))).not.toContain('<|begin_of_text|>');
    expect(templateOf(chat('Llama-3.2', { adds: false }))).toContain('<|begin_of_text|>');
  });

  it('stops at the end tokens of the model and of the tokenizer', () => {
    expect(chat('Qwen2.5').match(/^PARAMETER .*$/gm)).toEqual(['PARAMETER stop "<end>"', 'PARAMETER stop "</s>"']);
  });

  it("escapes what Go or Ollama's Modelfiles would read as theirs", () => {
    const odd = `{% for m in messages %}{{ '{' }}{{ '{ .System }' }} \u200B"""\n{{ m.content }}{{ '{' }}{% endfor %}`;
    const file = written(folder({ template: odd }));
    const template = templateOf(file);
    expect(template).toContain('{{ "{{" }} .System }');
    expect(file).not.toContain('\u200B');
    expect(goTemplate(template, ollamaChat(TURNS.slice(0, 1)))).toBe('{{ .System } \u200B"""\nOne "and" two{');
  });

  it('says what it cannot write', () => {
    const one = "{% if messages | length > 1 %}{{ raise_exception('one') }}{% endif %}Q: {{ messages[0].content }} A:";
    const single = written(folder({ template: one }));
    expect(single).toMatch(/^# The chat template takes no system message.*\n# Earlier turns of a chat/m);
    expect(goTemplate(templateOf(single), { Prompt: 'why', Response: '' })).toBe('Q: why A:');
    // The text depends on how many turns there are.
    const counted = '{% for m in messages %}{{ messages | length }}: {{ m.content }}\n{% endfor %}';
    expect(written(folder({ template: counted }))).toContain('# Earlier turns of a chat');
    const shouted = '{% for m in messages %}{{ m.content | length }}{% endfor %}';
    const none = written(folder({ template: shouted }));
    expect(none).toMatch(/^FROM .*\n# The model's chat template can't be written/);
    expect(none).not.toContain('TEMPLATE """');
  });

  it('gives a model without a chat template the prompt as it is', () => {
    expect(templateOf(written(folder({})))).toBe('{{ .Prompt }}{{ .Response }}');
  });
});
