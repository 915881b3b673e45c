/** Files that are made to hang, to fill the memory, or to end the program with an error of the language. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BraidError } from '../../main/errors.ts';
import { readModelConfig } from '../../main/model/config.ts';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { parseConfigText, readConfigFile } from '../../main/services/config/presets.ts';
import { parseDataset, readDataset, readTemplate } from '../../main/services/datasets/index.ts';
import { openRecordFiles } from '../../main/services/library/record-files.ts';
import { parseTexts } from '../../main/services/texts/parse.ts';
import { interleaveTask } from '../../main/tasks/interleave/task.ts';
import { replyTask } from '../../main/tasks/reply/task.ts';
import { braid } from '../commands/braid.ts';
import { sourceUrl } from '../processes-at-once.ts';
import { errorOf } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deepObject = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const EMPTY_TOKENIZER = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: { type: 'BPE', vocab: {}, merges: [] },
};

describe('YAML configurations', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (const [name, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg'])
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`);
  it.each([
    ['an alias bomb', bomb.join('\n'), 'line 2: expected a value, got the alias *a'],
    ['an unresolved alias', 'model: *nowhere', 'got the alias *nowhere'],
    ['an anchor in itself', 'model: &a [*a]', 'got the alias *a'],
    ['a binary value', 'model: !!binary aGVsbG8=', 'Unresolved tag'],
    ['a tag of a language', 'model: !!js/function "x"', 'Unresolved tag'],
    ['lists of 150 levels', `model: ${deep(150)}`, 'at most 50 levels'],
    ['lists of 10,000 levels', `model: ${deep(10_000)}`, 'at most 50 levels'],
    ['blocks of 200 levels', Array.from({ length: 200 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'levels'],
    ['megabytes', `model: ${'x'.repeat(2_000_000)}`, 'at most 32768 characters'],
  ])('are refused with a reason: %s', (_, text, named) => {
    expect(errorOf(() => parseConfigText('run.yaml', text))).toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringContaining(named),
    });
  });

  it('are refused after --set as well', async () => {
    const set = await braid(['train', '--dataset', 'x.jsonl', '--set', 'model=&a [*a]']);
    expect(set).toMatchObject({ code: 2, stderr: expect.stringContaining('to be followed by a YAML value') });
  });
});

describe('JSON of many levels', () => {
  const levels = [600, 50_000, 100_000] as const;
  it.each(levels)('of texts, records, templates and models is refused with a reason: %i', (count) => {
    const file = join(temporaryFolder(), 'config.json');
    for (const text of [deep(count), deepObject(count)]) {
      const faults = [
        ...parseTexts('a.json', text).faults,
        ...parseTexts('a.jsonl', text).faults,
        ...parseTexts('b.json', `[${text}]`).faults,
      ];
      expect(faults.map(({ reason }) => reason)).toEqual(
        Array(3).fill(expect.stringContaining('at most 500 levels of brackets')),
      );
      for (const task of [interleaveTask, replyTask])
        expect(errorOf(() => parseDataset('x', text, task as typeof interleaveTask))).toMatchObject({
          code: 'BAD_DATASET',
        });
      writeFileSync(file, text);
      expect(errorOf(() => readTemplate(file))).toMatchObject({ code: 'BAD_TEMPLATE' });
      expect(errorOf(() => readModelConfig(join(file, '..')))).toMatchObject({ code: 'BAD_JSON' });
    }
  });

  it('counts no brackets inside strings, and takes many on one level', () => {
    const text = JSON.stringify([`${'['.repeat(1000)}"\\`, ...Array(1000).fill('a text')]);
    expect(parseTexts('a.json', text).faults).toEqual([]);
  });
});

describe('NUL characters', () => {
  it('are refused in texts, their names and records', () => {
    const reasons = (value: unknown) => parseTexts('a.json', JSON.stringify(value)).faults.map(({ reason }) => reason);
    expect(reasons(['a\0b'])).toEqual(['expected a text without NUL characters']);
    expect(reasons([{ text: 'a b', title: 'x\0' }])).toEqual(['expected names without NUL characters']);
    expect(reasons({ 'x\0': 'a b' })).toEqual(['expected names without NUL characters']);
    const record = { id: 'a\0', post: 'a b', reply: 'c', engagement: { likes: 1, reposts: 0, replies: 0 } };
    expect(errorOf(() => parseDataset('x', JSON.stringify(record), replyTask))).toMatchObject({
      message: expect.stringContaining('"id" to be a string without NUL characters'),
    });
  });
});

describe.skipIf(process.platform === 'win32')('special files', () => {
  it('are refused wherever a file is read', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder();
    const pipe = join(folder, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    for (const file of ['/dev/zero', pipe]) {
      const refused = expect.objectContaining({ message: expect.stringContaining('a device or a pipe') });
      expect(errorOf(() => readDataset(file, interleaveTask))).toEqual(refused);
      expect(errorOf(() => readConfigFile(file))).toEqual(refused);
      expect(errorOf(() => readTemplate(file))).toEqual(refused);
      expect(errorOf(() => openSafetensors(file))).toEqual(refused);
      await expect(openRecordFiles().page(file, { offset: 0, limit: 1 })).rejects.toBeInstanceOf(BraidError);
      const imported = await braid(['texts', 'import', file, '--workspace', folder]);
      expect(imported).toMatchObject({ code: 2, stderr: expect.stringContaining('a device or a pipe') });
    }
    for (const name of ['config.json', 'tokenizer.json', 'chat_template.jinja']) {
      const model = join(folder, `with-${name}`);
      mkdirSync(model);
      writeFileSync(join(model, 'tokenizer.json'), JSON.stringify(EMPTY_TOKENIZER));
      execFileSync('rm', ['-f', join(model, name)]);
      execFileSync('mkfifo', [join(model, name)]);
      const work = name === 'config.json' ? readModelConfig : loadTokenizer;
      expect(errorOf(() => work(model))).toMatchObject({
        code: 'MODEL_FILE_UNREADABLE',
        message: expect.stringContaining('a device or a pipe'),
      });
    }
  });
});

describe.skipIf(process.platform === 'win32')('pipes in a workspace from elsewhere', () => {
  it('keep nobody waiting', { timeout: 60_000 }, () => {
    const folder = temporaryFolder();
    for (const name of ['.braid-app.json', 'gpu-report.md', 'comparison.json', 'stderr.log', 'rng.json', 'records'])
      execFileSync('mkfifo', [join(folder, name)]);
    const source = (file: string): string => JSON.stringify(sourceUrl(`main/${file}`));
    const program = `
      import { describeFile } from ${source('io/describe-file.ts')};
      import { newestGpuReport } from ${source('services/doctor/gpu-report.ts')};
      import { reportIn } from ${source('services/replies/report.ts')};
      import { hashOf } from ${source('services/reports/file-hash.ts')};
      import { readStderr } from ${source('services/runs/files.ts')};
      import { lockWorkspace } from ${source('services/workspace/lock.ts')};
      import { recordedLimit } from ${source('trainer/memory/recorded-limit.ts')};
      const folder = process.argv[1];
      const reads = [
        () => lockWorkspace(folder, 'a test').release(),
        () => newestGpuReport({ workspace: { root: folder } }),
        () => reportIn(folder, 0),
        () => readStderr(folder),
        () => recordedLimit(folder),
        () => describeFile(folder + '/records'),
        () => hashOf(folder + '/records'),
      ];
      const said = reads.map((read) => { try { return String(read()); } catch (error) { return error.code; } });
      console.log(said.join(' '));`;
    const options = { encoding: 'utf8', timeout: 30_000 } as const;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program, folder], options);
    expect(said.trim()).toBe('undefined ENOTREG ENOTREG null null ENOTREG ENOTREG');
  });
});

describe('a line of 200 MB', () => {
  it('is refused as a text, as a record and as a configuration', { timeout: 240_000 }, async () => {
    const folder = temporaryFolder();
    const line = Buffer.alloc(200_000_000, 'word ');
    for (const [name, args] of [
      ['long.txt', ['texts', 'import']],
      ['long.jsonl', ['texts', 'import']],
      ['long.yaml', ['train', '--config']],
    ] as const) {
      const file = join(folder, name);
      writeFileSync(file, name === 'long.jsonl' ? Buffer.concat([Buffer.of(0x22), line, Buffer.of(0x22, 0x0a)]) : line);
      const got = await braid([...args, file, '--workspace', folder]);
      expect({ name, code: got.code, stderr: got.stderr }).toEqual({
        name,
        code: 2,
        stderr: expect.stringMatching(/at most \d+ characters|a file of at most 1 MiB, got 191/),
      });
    }
    const file = join(folder, 'long.jsonl');
    expect(errorOf(() => readDataset(file, interleaveTask))).toMatchObject({
      message: expect.stringContaining('at most 16000000 characters on a line'),
    });
    const { records } = await openRecordFiles().page(file, { offset: 0, limit: 1 });
    expect(records).toEqual([{ kind: 'fault', line: 1, reason: expect.stringContaining('bytes on a line') }]);
  });
});
