/** Everything that reads what a person, a page or the internet hands in, with an input that is right. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { jsonPlaces } from '../../main/io/json-places.ts';
import { decodeText } from '../../main/io/text-file.ts';
import { parseYaml } from '../../main/io/yaml.ts';
import { renderChat } from '../../main/model/chat-template.ts';
import { damageOf } from '../../main/model/checksums.ts';
import { readModelConfig } from '../../main/model/config.ts';
import { parseAdapterConfig } from '../../main/model/peft-config.ts';
import { encodeSafetensors, openSafetensors } from '../../main/model/safetensors.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { shardMap } from '../../main/model/weight-files.ts';
import type { RandomStream } from '../../main/random.ts';
import { trainingHistory } from '../../main/services/comparisons/sampled/training-history.ts';
import { parseConfigText } from '../../main/services/config/presets.ts';
import { detectTask } from '../../main/services/datasets/detect-task.ts';
import { planImport } from '../../main/services/datasets/import/plan.ts';
import { readDataset, readTemplate } from '../../main/services/datasets/index.ts';
import { readScoreFile } from '../../main/services/evaluation/score-file.ts';
import { openRecordFiles } from '../../main/services/library/record-files.ts';
import { parseRepo } from '../../main/services/models/hub.ts';
import { resolveModelParts } from '../../main/services/models/resolve.ts';
import { guessedName } from '../../main/services/texts/guess-format.ts';
import { parseTexts } from '../../main/services/texts/parse.ts';
import { parseDefinition } from '../../main/tasks/folder/definition.ts';
import { readTaskFolder } from '../../main/tasks/folder/source.ts';
import { interleaveTask } from '../../main/tasks/interleave/task.ts';
import { replyTask } from '../../main/tasks/reply/task.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { tinyRecord } from '../tiny-model.ts';
import { hostileInputs, withHeader } from './hostile-inputs.ts';
import { mutatedBytes, mutatedText, nudgedValue, pick } from './mutate.ts';

export interface Parser {
  readonly name: string;
  /** The file that it reads, where it reads one; its folder is `folder`. */
  readonly file: string;
  /** Inputs that are right, to begin with. */
  readonly good: readonly (string | Buffer)[];
  /** How a good input becomes one that is nearly right; absent: by its bytes and, where it is JSON, its values. */
  mutate?(stream: RandomStream, good: Buffer): Buffer;
  parse(file: string, bytes: Buffer, folder: string): unknown;
}

const root = resolve(import.meta.dirname, '../..');
const resources = join(root, 'resources');
const tiny = join(resources, 'models/tiny');
const fixtures = join(root, 'tests/parity/fixtures/tokenizers');
/** Among them one that patterns backtrack on. */
const TOKENIZED = ['Two words, and 1 more\n', `${'a'.repeat(60)}!`, 'é\t  <eos> 語🙂 '];
const text = (bytes: Buffer): string => bytes.toString('utf8');
const lines = (records: readonly unknown[]): string => records.map((record) => JSON.stringify(record)).join('\n');

const interleave = lines([tinyRecord('a', 3), tinyRecord('b', 4, 5), tinyRecord('c', 2, 9)]);
const reply = { id: 'r', post: 'a post', reply: 'an answer', engagement: { likes: 1, reposts: 0, replies: 2 } };
const chats = [{ title: 'Talk', messages: [{ role: 'assistant', content: `${'many words '.repeat(60)}` }] }];
const template =
  "{% for message in messages %}{{ message['role'] }}: {{ message.content | trim }}\n{% endfor %}{{ eos }}";
const markdown =
  '---\na: b\n---\n# A title #\n\nSome *slanted* and **strong** [words](x) ![p](q)\n\n- one\n> two\n\n```\ncode\n```\n';
const adapterConfig = {
  peft_type: 'LORA',
  r: 2,
  lora_alpha: 4,
  target_modules: ['q_proj'],
  bias: 'none',
  lora_dropout: 0,
  base_model_name_or_path: 'tiny',
  use_rslora: false,
  task_type: 'CAUSAL_LM',
};
const weights = encodeSafetensors([
  { name: 'a', shape: [2, 3], data: new Float32Array(6) },
  { name: 'b', shape: [4], data: new Float32Array(4) },
]);

const exactMatch = join(resources, 'tasks/exact-match');
const rows = [1, 2, 3, 4].map((i) => ({ question: `what is ${i}, or "${i}"?`, answer: String(i), n: i / 2 }));
const separated = (mark: string): string =>
  [['question', 'answer', 'n'], ...rows.map((row) => Object.values(row).map((one) => JSON.stringify(one)))]
    .map((cells) => cells.join(mark))
    .join('\n');
const tables: Readonly<Record<string, string>> = {
  csv: separated(','),
  tsv: separated('\t'),
  json: JSON.stringify({ data: rows }),
  jsonl: lines(rows),
};
const parquet = Buffer.from(
  parquetWriteBuffer({
    columnData: [
      { name: 'question', data: rows.map((row) => row.question), type: 'STRING' },
      { name: 'answer', data: rows.map((row) => row.answer), type: 'STRING' },
      { name: 'n', data: rows.map((row) => row.n), type: 'DOUBLE' },
    ],
  }),
);

/** JSON that stays JSON: most of the time a few values change, now and then anything. */
function nudgedJson(stream: RandomStream, good: Buffer): Buffer {
  if (stream.below(5) === 0) return mutatedText(stream, text(good));
  return Buffer.from(JSON.stringify(nudgedValue(stream, JSON.parse(text(good)))));
}

/** A changed header under a length that fits it, changed weights, or tensors under other names. */
function nudgedWeights(stream: RandomStream, good: Buffer): Buffer {
  if (stream.below(6) === 0) return mutatedBytes(stream, good);
  const end = 8 + Number(good.readBigUInt64LE());
  const data = good.subarray(end);
  const header = JSON.parse(text(good.subarray(8, end))) as Record<string, unknown>;
  switch (stream.below(4)) {
    case 0:
      return withHeader(nudgedValue(stream, header), data);
    case 1:
      return withHeader({ ...header, __metadata__: nudgedValue(stream, { format: 'pt', a: 'b' }) }, data);
    case 2:
      return withHeader(Object.fromEntries(Object.entries(header).toReversed()), data);
    default:
      // As many bytes as before, whatever they say.
      return Buffer.concat([good.subarray(0, end), Buffer.from(data.map((byte) => byte ^ stream.below(256)))]);
  }
}

function texts(name: string, bytes: Buffer): unknown {
  const decoded = decodeText(name, bytes);
  return decoded.kind === 'bad' ? decoded : parseTexts(name, decoded.value);
}

export const parsers: readonly Parser[] = [
  ...['txt', 'md', 'html', 'json', 'jsonl'].map(
    (ending): Parser => ({
      ...{ name: `texts .${ending}`, file: `texts.${ending}` },
      good: [
        markdown,
        '<title>T</title><h1>A &amp; b</h1><table><tr><td>c<td>d</table><script>x</script><pre> e\n f</pre>',
        JSON.stringify([{ id: 'a', title: 't', text: 'some words', source: 's' }, 'a text']),
        JSON.stringify({ one: 'some words', two: { text: 'more words' } }),
        JSON.stringify(chats),
        lines(['a text', { text: 'some words', title: 't' }]),
      ],
      parse: (file, bytes) => texts(file, bytes),
    }),
  ),
  {
    name: 'pasted text',
    file: 'x',
    good: [markdown, interleave, '{"a": "some words"}'],
    parse: (_, bytes) => parseTexts(guessedName('pasted', text(bytes)), text(bytes)),
  },
  {
    name: 'places in JSON',
    file: 'x',
    good: [JSON.stringify(chats), interleave],
    parse: (_, bytes) => jsonPlaces(text(bytes)),
  },
  {
    name: 'run.yaml',
    file: 'run.yaml',
    good: readdirSync(join(resources, 'presets'))
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => readFileSync(join(resources, 'presets', name))),
    parse: (file, bytes) => parseConfig(parseConfigText(file, text(bytes)), file),
  },
  {
    name: '--set',
    file: 'x',
    good: ['1e-5', '[q_proj, v_proj]', 'null', '"a b"', '{a: 1}'],
    parse: (_, bytes) => {
      const { document, faults } = parseYaml(text(bytes));
      if (faults.length === 0) parseConfig({ model: document.toJS() });
    },
  },
  {
    name: 'interleave dataset',
    file: 'set.jsonl',
    good: [interleave],
    parse: (file) => readDataset(file, interleaveTask),
  },
  {
    name: 'reply dataset',
    file: 'set.jsonl',
    good: [lines([reply, { ...reply, id: 's' }])],
    parse: (file) => readDataset(file, replyTask),
  },
  { ...{ name: 'task of a dataset', file: 'set.jsonl' }, good: [interleave], parse: (file) => detectTask(file) },
  {
    name: 'records of a page',
    file: 'set.jsonl',
    good: [interleave, lines([reply])],
    parse: (file) => openRecordFiles().page(file, { offset: 0, limit: 20, search: 'a' }),
  },
  {
    name: 'prompt template',
    file: 'template.json',
    good: [JSON.stringify({ name: 'n', version: 1, text: 'Say {fragment_a} and {fragment_b} of {words}' })],
    parse: (file) => readTemplate(file),
  },
  {
    name: 'completions to score',
    file: 'score.jsonl',
    good: [
      lines([
        { id: 1, prompt: 'a', completion: 'b' },
        { id: 'x', prompt_ids: [1, 2], completion_ids: [3] },
      ]),
    ],
    parse: (file) => readScoreFile(file),
  },
  {
    name: 'config.json',
    file: 'config.json',
    good: [readFileSync(join(tiny, 'config.json'))],
    mutate: nudgedJson,
    parse: (_, __, folder) => readModelConfig(folder),
  },
  {
    name: 'tokenizer.json',
    file: 'tokenizer.json',
    good: [...['llama3', 'qwen2', 'wordpiece'].map((name) => join(fixtures, name)), tiny].map((folder) =>
      readFileSync(join(folder, 'tokenizer.json')),
    ),
    mutate: nudgedJson,
    parse: (_, __, folder) => {
      const tokenizer = loadTokenizer(folder);
      for (const words of TOKENIZED) tokenizer.decode(tokenizer.encode(words, true).slice(0, 200));
    },
  },
  {
    name: 'chat template',
    file: 'x',
    good: [template, '{{ bos_token }}{% set ns = namespace(a=1) %}{% if ns.a > 0 %}{{ range(3) | length }}{% endif %}'],
    parse: (_, bytes) => renderChat(text(bytes), [{ role: 'user', content: 'Hi' }], { eos_token: '</s>' }, 'folder'),
  },
  {
    name: 'safetensors',
    file: 'model.safetensors',
    good: [weights],
    mutate: nudgedWeights,
    parse: (file) => {
      const opened = openSafetensors(file);
      try {
        for (const name of opened.entries.keys()) opened.read(name);
      } finally {
        opened.close();
      }
    },
  },
  {
    name: 'index of shards',
    file: 'model.safetensors.index.json',
    good: [JSON.stringify({ metadata: {}, weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' } })],
    parse: (_, __, folder) => shardMap(folder)?.get('a'),
  },
  {
    name: 'adapter_config.json',
    file: 'adapter_config.json',
    good: [JSON.stringify(adapterConfig)],
    mutate: nudgedJson,
    parse: (file, bytes, folder) => {
      resolveModelParts(folder, { resources });
      parseAdapterConfig(JSON.parse(text(bytes)), file);
    },
  },
  {
    name: 'checksums',
    file: 'checksums.sha256',
    good: [`${'0'.repeat(64)}  checksums.sha256\n`],
    parse: (_, __, folder) => damageOf(folder),
  },
  {
    name: 'trainer_state.json',
    file: 'trainer_state.json',
    good: [
      JSON.stringify({
        global_step: 2,
        log_history: [
          { step: 1, loss: 0.5 },
          { step: 2, loss: null },
        ],
      }),
    ],
    parse: (_, __, folder) => trainingHistory(folder),
  },
  ...['csv', 'tsv', 'json', 'jsonl', 'parquet'].map(
    (ending): Parser => ({
      ...{ name: `table .${ending}`, file: `table.${ending}` },
      good: ending === 'parquet' ? [parquet] : [tables[ending] ?? ''],
      parse: (file) =>
        planImport({
          files: [file],
          testFiles: [],
          task: readTaskFolder(exactMatch),
          map: {},
          filters: [],
          sample: null,
          dedupe: false,
          splitBy: null,
          testShare: 0.2,
          seed: 1,
        }),
    }),
  ),
  {
    name: 'task.yaml',
    file: 'task.yaml',
    good: [readFileSync(join(exactMatch, 'task.yaml'), 'utf8')],
    parse: (file, bytes) => parseDefinition(file, text(bytes)),
  },
  { ...{ name: 'hub repository', file: 'x' }, good: ['owner/name'], parse: (_, bytes) => parseRepo(text(bytes)) },
];

export interface ParserInput {
  readonly parser: Parser;
  readonly bytes: Buffer;
  readonly what: string;
}

/** The input of one try: first everything hostile that is known, then what chance makes. */
export function parserInput(number: number, stream: RandomStream): ParserInput {
  const hostile = hostileInputs[number - 1];
  if (hostile !== undefined) {
    const parser = parsers.find(({ name }) => name === hostile.parser);
    if (parser === undefined) throw new Error(`Expected a parser "${hostile.parser}"`);
    return { parser, bytes: hostile.bytes(), what: hostile.what };
  }
  const parser = pick(stream, parsers);
  const good = pick(stream, parser.good);
  const bytes = Buffer.from(good);
  const mutate = parser.mutate ?? (typeof good === 'string' ? mutatedWords : mutatedBinary);
  return { parser, bytes: mutate(stream, bytes), what: 'made by chance' };
}

function mutatedWords(stream: RandomStream, good: Buffer): Buffer {
  return mutatedText(stream, text(good));
}

function mutatedBinary(stream: RandomStream, good: Buffer): Buffer {
  const isJson = good[0] === 0x7b;
  return isJson && stream.below(2) === 0 ? mutatedText(stream, good.toString('utf8')) : mutatedBytes(stream, good);
}

/** Parses an input as its parser's file in a folder of its own. */
export async function parseInput(
  { parser, bytes }: Pick<ParserInput, 'parser' | 'bytes'>,
  folder: string,
): Promise<void> {
  const own = join(folder, parser.name.replace(/\W+/g, '-'));
  mkdirSync(own, { recursive: true });
  const file = join(own, parser.file);
  writeFileSync(file, bytes);
  await parser.parse(file, bytes, own);
}
