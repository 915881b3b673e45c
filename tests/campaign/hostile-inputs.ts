/** Inputs made to hang, exhaust or crash what reads them: each is refused or read, in time and within memory. */
export interface HostileInput {
  /** The parser's name. */
  readonly parser: string;
  readonly what: string;
  bytes(): Buffer;
}

const MILLION = 1_000_000;

/** A safetensors file of any header. */
export function withHeader(header: unknown, data: Buffer): Buffer {
  const bytes = Buffer.from(typeof header === 'string' ? header : (JSON.stringify(header) ?? ''));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes, data]);
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const counted = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const config = {
  model_type: 'llama',
  hidden_size: 32,
  intermediate_size: 64,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  num_hidden_layers: 2,
  vocab_size: 100,
  rms_norm_eps: 1e-5,
  rope_theta: 1e4,
  max_position_embeddings: 512,
};
const hostileConfigs: Readonly<Record<string, unknown>> = {
  'a billion layers': { ...config, num_hidden_layers: 1e9 },
  'a vocabulary of 2^53': { ...config, vocab_size: 2 ** 53 },
  'a width of 10^12': { ...config, hidden_size: 1e12 },
  'no rotation': { ...config, rope_theta: 1e-300 },
  'a million ends': { ...config, eos_token_id: counted(MILLION, (i) => i) },
  'a million kinds of layers': { ...config, layer_types: counted(MILLION, () => 'full_attention') },
  'a built-in as quantisation': { ...config, quantization_config: { quant_method: 'constructor' } },
  'a built-in as family': { ...config, model_type: '__proto__' },
  'a built-in as scaling': { ...config, rope_scaling: { rope_type: 'constructor', factor: 2 } },
  'a hundred thousand fields': { ...config, ...Object.fromEntries(counted(100_000, (i) => [`field_${i}`, i])) },
};

const vocabulary = { '<unk>': 0, a: 1, b: 2 };
const tokenizer = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: { type: 'WordLevel', vocab: vocabulary, unk_token: '<unk>' },
};
const split = (pattern: string) => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior: 'Isolated',
  invert: false,
});
const doubling = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' };
const hostileTokenizers: Readonly<Record<string, unknown>> = {
  'a pattern that backtracks': { ...tokenizer, pre_tokenizer: split('^(a+)+$') },
  'a normaliser that backtracks': {
    ...tokenizer,
    normalizer: { type: 'Replace', pattern: { Regex: '(a|a)*b' }, content: 'x' },
  },
  'replacements that double': {
    ...tokenizer,
    normalizer: { type: 'Sequence', normalizers: counted(40, () => doubling) },
  },
  'sequences in sequences': {
    ...tokenizer,
    normalizer: counted(3000, (i) => i).reduce<unknown>(
      (inner) => ({ type: 'Sequence', normalizers: [inner] }),
      doubling,
    ),
  },
  'a hundred thousand added tokens': {
    ...tokenizer,
    added_tokens: counted(100_000, (i) => ({ id: i + 3, content: `<|(${i}|>`, special: true, normalized: false })),
  },
  'merges of nothing': {
    ...tokenizer,
    model: { type: 'BPE', vocab: vocabulary, merges: counted(300_000, () => 'a b') },
  },
};

const question = '{"question":"q","answer":"';
const adapter = { peft_type: 'LORA', r: 2, lora_alpha: 4, bias: 'none', lora_dropout: 0, task_type: 'CAUSAL_LM' };

function all(parser: string, inputs: Readonly<Record<string, unknown>>): HostileInput[] {
  return Object.entries(inputs).map(([what, value]) => ({ parser, what, bytes: () => json(value) }));
}

function written(parser: string, inputs: Readonly<Record<string, () => string>>): HostileInput[] {
  return Object.entries(inputs).map(([what, make]) => ({ parser, what, bytes: () => Buffer.from(make()) }));
}

const quotes = (): string => `title: ${'"'.repeat(260_000)}`;
const keys = (): string => counted(40_000, (i) => `key_${i}: ${i}`).join('\n');
const yamls = {
  quotes,
  'forty thousand keys': keys,
  levels: () => `a: ${deep(200_000)}`,
  anchors: () =>
    `a0: &a0 [x, x]\n${counted(60, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}, *a${i}]`).join('\n')}`,
  'one long line': () => `a: ${'x'.repeat(5 * MILLION)}`,
  indents: () => counted(3000, (i) => `${' '.repeat(i)}a:`).join('\n'),
};

/** In the order in which they are tried. */
export const hostileInputs: readonly HostileInput[] = [
  ...all('config.json', hostileConfigs),
  ...all('tokenizer.json', hostileTokenizers),
  ...written('chat template', {
    'a list that doubles': () =>
      '{% set n = namespace(s=[1,2,3,4]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s|length }}',
    'a text that doubles': () =>
      "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s|length }}",
    'a replacement that doubles': () =>
      "{% set n = namespace(s='a') %}{% for i in range(60) %}{% set n.s = n.s.replace('a', 'aa') %}{% endfor %}x",
    'a range without end': () => '{% for i in range(10000000000) %}{% endfor %}',
    'loops in loops': () => `${'{% for i in range(1000) %}'.repeat(9)}x${'{% endfor %}'.repeat(9)}`,
    'a macro that calls itself': () => '{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}',
    'a million openings': () => '{{'.repeat(MILLION),
    parentheses: () => `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`,
    'a list of lists': () => `{{ ${deep(100_000)} }}`,
  }),
  {
    parser: 'safetensors',
    what: 'three hundred thousand empty entries',
    bytes: () =>
      withHeader(
        Object.fromEntries(counted(300_000, (i) => [`t${i}`, { dtype: 'F32', shape: [0], data_offsets: [0, 0] }])),
        Buffer.alloc(0),
      ),
  },
  {
    parser: 'safetensors',
    what: 'a shape of a million ones',
    bytes: () =>
      withHeader({ t: { dtype: 'F32', shape: counted(MILLION, () => 1), data_offsets: [0, 8] } }, Buffer.alloc(8)),
  },
  {
    parser: 'safetensors',
    what: 'a shape beyond all numbers',
    bytes: () => withHeader({ t: { dtype: 'F32', shape: [2 ** 53, 2 ** 53], data_offsets: [0, 8] } }, Buffer.alloc(8)),
  },
  {
    parser: 'safetensors',
    what: 'a header of levels',
    bytes: () => withHeader(`{"t":${deep(200_000)}}`, Buffer.alloc(8)),
  },
  { ...{ parser: 'safetensors', what: 'a header of 2^62 bytes' }, bytes: () => Buffer.from('0000000000000040', 'hex') },
  ...all('adapter_config.json', {
    'ranks by a pattern that backtracks': { ...adapter, target_modules: ['q_proj'], rank_pattern: { '(.*)*x': 4 } },
    'modules by a pattern that backtracks': { ...adapter, target_modules: '(([a-z_.0-9])+)+!' },
    'a rank of 10^9': { ...adapter, target_modules: ['q_proj'], r: 1e9 },
    'a hundred thousand patterns': {
      ...adapter,
      target_modules: ['q_proj'],
      rank_pattern: Object.fromEntries(counted(100_000, (i) => [`layers.${i}.*`, 4])),
    },
  }),
  ...all('index of shards', {
    'two hundred thousand files': {
      weight_map: Object.fromEntries(counted(200_000, (i) => [`t${i}`, `${i}.safetensors`])),
    },
    'a file elsewhere': { weight_map: { a: '../../../../etc/passwd' } },
  }),
  ...written('run.yaml', yamls),
  ...written('task.yaml', {
    ...yamls,
    'five thousand unknown placeholders': () =>
      `title: t\nfields:\n  a: text\nprompt: '${counted(5000, (i) => `{f${i}}`).join(' ')}'`,
  }),
  ...written('table .csv', {
    'eighty thousand columns': () =>
      counted(3, (row) => counted(80_000, (i) => (row === 0 ? `c${i}` : String(i))).join(',')).join('\n'),
    'a quote without an end': () => `question,answer\n"${'a,b\n'.repeat(MILLION)}`,
    quotes: () => `question,answer\n${'"'.repeat(2 * MILLION)}`,
  }),
  ...written('table .jsonl', {
    'a hundred thousand columns': () => JSON.stringify(Object.fromEntries(counted(100_000, (i) => [`c${i}`, i]))),
    'columns of their own': () => counted(2000, (row) => JSON.stringify({ [`c${row}`]: 1 })).join('\n'),
    'a long line': () => `${question}${'x'.repeat(20 * MILLION)}"}`,
    levels: () => `{"question":${deep(200_000)}}`,
    'broken lines': () => '{\n'.repeat(300_000),
  }),
  ...written('table .json', { levels: () => deep(MILLION), numbers: () => `[${'1,'.repeat(2 * MILLION)}1]` }),
  ...written('texts .md', {
    brackets: () => '['.repeat(200_000),
    stars: () => '*a **b '.repeat(50_000),
    quotes: () => '>'.repeat(50_000),
    'lists in lists': () => counted(2000, (i) => `${'  '.repeat(i)}- a`).join('\n'),
    'a table of columns': () => `${'|a'.repeat(50_000)}|\n${'|-'.repeat(50_000)}|\n${'|b'.repeat(50_000)}|`,
    entities: () => '&amp;&'.repeat(200_000),
    backticks: () => counted(2000, (i) => '`'.repeat(i)).join(' a '),
    tags: () => '<a '.repeat(100_000),
    links: () => '[a](<b'.repeat(50_000),
    'one long word': () => 'x'.repeat(5 * MILLION),
  }),
  ...written('texts .json', { levels: () => deep(MILLION), strings: () => `[${'"a b",'.repeat(300_000)}"c"]` }),
  ...written('texts .txt', {
    'invisible characters': () => '\u200b'.repeat(2 * MILLION),
    lines: () => '\n'.repeat(5 * MILLION),
  }),
  ...written('interleave dataset', {
    'broken lines': () => '{\n'.repeat(300_000),
    'a long line': () => `"${'x '.repeat(10 * MILLION)}"`,
  }),
  ...written('completions to score', { 'broken lines': () => '{\n'.repeat(300_000) }),
  ...written('checksums', { lines: () => `${'0'.repeat(64)}  a\n`.repeat(200_000) }),
  ...all('trainer_state.json', {
    'a long history': { global_step: 1, log_history: counted(300_000, (step) => ({ step, loss: 1 })) },
  }),
];
