import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { registerDataset } from '../../main/commands/dataset.ts';
import { checkoutPaths, setHostPaths } from '../../main/commands/host-paths.ts';
import { type HubDouble, openHubDouble } from '../services/data-import/hub-double.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { runCommand } from './run-command.ts';

const sums = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    question: `${first + i} and one`,
    solution: `It is #### ${first + i + 1}`,
  }));

beforeAll(() => setHostPaths(checkoutPaths(resolve(import.meta.dirname, '../..'))));

let hub: HubDouble;
let workspace = '';
beforeEach(async () => {
  hub = await openHubDouble({ train: sums(1, 6), test: sums(101, 2) });
  workspace = temporaryFolder();
  vi.stubEnv('HF_ENDPOINT', hub.url);
  vi.stubEnv('HF_DATASETS_SERVER', hub.url);
  vi.stubEnv('HF_TOKEN', '');
});
afterEach(() => {
  hub.close();
  vi.unstubAllEnvs();
  process.exitCode = 0;
});

const load = (...args: readonly string[]) =>
  runCommand(
    registerDataset,
    ...['dataset', 'import', 'hf:made/sums', '--task', 'last-number', '--workspace', workspace, ...args],
  );

describe('braid dataset import --preview of a Hub dataset', () => {
  it('shows rows and mapping of the first rows, and downloads nothing', async () => {
    const { stdout, stderr, error } = await load('--preview', '--test-share', '0.5');
    expect(error).toBeNull();
    expect(stdout).toContain('the first rows of train; nothing is downloaded');
    expect(stdout).toContain('6 rows with question, solution');
    expect(stdout).toContain('answer = solution:last-number');
    expect(stdout).toMatch(/\d and one/);
    expect(stdout).toContain('3 training records, 3 held out, 0 with faults');
    expect(stderr).toContain('--test-split test');
    expect(hub.asked).toEqual(['/splits', '/first-rows']);
    expect(existsSync(join(workspace, 'datasets', '.hub'))).toBe(false);
  });

  it('shows the held-out split with it, and as JSON which splits there are', async () => {
    const { stdout, stderr } = await load('--preview', '--test-split', 'test', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      columns: ['question', 'solution'],
      mapping: { question: 'question', answer: 'solution:last-number' },
      rows: 8,
      train: 6,
      test: 2,
      faults: [],
      config: 'main',
      splits: ['train', 'test'],
    });
    expect(stderr).not.toContain('--test-split');
    expect(hub.asked.filter((path) => path.includes('parquet'))).toEqual([]);
  });

  it('says what is wrong with mapping and splits, still without a download', async () => {
    expect((await load('--preview', '--map', 'answer=solutoin')).error?.message).toContain('did you mean');
    expect((await load('--preview', '--split', 'dev')).error).toMatchObject({
      code: 'HUB_SPLIT_UNKNOWN',
      remedy: 'It has main/train, main/test.',
    });
    expect((await load('--preview', '--test-split', 'dev')).error?.message).toContain('main/dev');
    vi.stubEnv('HF_DATASETS_SERVER', '');
    expect((await load('--preview')).error).toMatchObject({
      code: 'HUB_NO_PREVIEW',
      remedy: expect.stringContaining('HF_DATASETS_SERVER'),
    });
    expect(hub.asked.filter((path) => path.includes('parquet'))).toEqual([]);
  });
});

describe('braid dataset import of a Hub dataset', () => {
  it('gives what its preview showed', async () => {
    const { error } = await load('--test-split', 'test', '--name', 'sums');
    expect(error).toBeNull();
    expect(readdirSync(join(workspace, 'datasets'))).toEqual(expect.arrayContaining(['sums.jsonl', 'sums.test.jsonl']));
    expect(readdirSync(join(workspace, 'datasets', '.hub'))).toEqual([]);
    const held = readFileSync(join(workspace, 'datasets', 'sums.test.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(held.map((line) => JSON.parse(line).answer)).toEqual([102, 103]);
  });
});

describe('braid dataset import of a folder', () => {
  const local = (...args: readonly string[]) =>
    runCommand(
      registerDataset,
      ...['dataset', 'import', ...args, '--task', 'last-number', '--workspace', workspace, '--quiet'],
    );

  it('reads every part of a split, and the held-out one', async () => {
    const folder = temporaryFolder();
    const parts = { 'train-0.jsonl': sums(1, 2), 'train-1.jsonl': sums(11, 3), 'test.jsonl': sums(101, 1) };
    for (const [name, rows] of Object.entries(parts))
      writeFileSync(join(folder, name), rows.map((row) => JSON.stringify(row)).join('\n'));
    await local(folder, '--name', 'parts', '--test-split', 'test');
    const count = (file: string) =>
      readFileSync(join(workspace, 'datasets', file), 'utf8')
        .trim()
        .split('\n').length;
    expect([count('parts.jsonl'), count('parts.test.jsonl')]).toEqual([5, 1]);
    const { error } = await local(join(folder, 'train-0.jsonl'), '--test-split', 'test');
    expect(error).toMatchObject({ message: expect.stringContaining('--test-split is of a folder or a Hub dataset') });
  });

  it('advises what was not done to keep the sides apart', async () => {
    const file = join(temporaryFolder(), 'same.jsonl');
    const rows = sums(1, 6).map((row, i) => ({ ...row, question: 'How many apples are in all those baskets?', id: i }));
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    const advice = async (...args: readonly string[]) => {
      const asked = ['dataset', 'import', file, '--task', 'last-number', '--workspace', workspace, '--preview'];
      const { stderr } = await runCommand(registerDataset, ...asked, '--test-share', '0.5', ...args);
      return /on both sides(.*)/.exec(stderr)?.[1];
    };
    const split = '; --split-by a column of the prompt keeps its rows on one side';
    expect(await advice()).toBe(`${split}; --dedupe drops repeated rows`);
    // Only the prompt repeats here: neither these rows nor their ids.
    expect(await advice('--dedupe')).toBe(split);
    expect(await advice('--dedupe', '--split-by', 'id')).toBe(split);
  });

  it('reads --model, which `dataset` has too, and refuses what only `dataset` has', async () => {
    const file = join(temporaryFolder(), 'few.jsonl');
    writeFileSync(file, JSON.stringify({ question: 'How many? ☂', answer: 1 }));
    const model = resolve(import.meta.dirname, '../../resources/models/tiny-reply');
    const { stderr } = await runCommand(
      registerDataset,
      ...['dataset', 'import', file, '--task', 'last-number', '--workspace', workspace, '--model', model, '--preview'],
    );
    expect(stderr).toContain(`With the model ${model}:`);
    const { error } = await local(file, '--output-dir', workspace);
    expect(error?.message).toBe('`dataset import` has no --output-dir');
  });
});
