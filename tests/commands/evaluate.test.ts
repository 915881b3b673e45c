import { cpSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { tinyRecord, writeTinyAdapter, writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const NONE = { likes: 0, reposts: 0, replies: 0 };
const folder = temporaryFolderOfFile();
const place = (name: string): string => join(folder, name);
const dataset = place('held-out.jsonl');
const evaluate = (model: string, ...more: string[]) =>
  braid(['evaluate', '--model', model, '--dataset', dataset, '--workspace', place('none'), ...more]);

beforeAll(async () => {
  buildKernels();
  const model = await writeTinyModel(place('model'));
  writeTinyAdapter(place('adapter'), model, '../model');
  writeTinyAdapter(place('lost'), model, 'somewhere/else');
  const records = [tinyRecord('one', 2), tinyRecord('two', 2, 5), tinyRecord('three', 3)];
  writeFileSync(dataset, records.map((record) => JSON.stringify(record)).join('\n'));
});

describe('braid evaluate', () => {
  it('returns the summary and every completion, and creates no workspace', async () => {
    const run = await evaluate(place('model'), '--json', '--batch', '2');
    expect(run.code, run.stderr).toBe(0);
    const value = JSON.parse(run.stdout);
    expect(value).toMatchObject({ n: 3, backend: 'wasm', by_words: { 2: { n: 2 }, 3: { n: 1 } } });
    expect(Object.keys(value)).toEqual(
      expect.arrayContaining(['mean_alignment', 'low', 'high', 'exact_match', 'items', 'seconds']),
    );
    expect(value.items.map((item: { id: string }) => item.id)).toEqual(['one', 'two', 'three']);
    expect(value.items[0].completion).not.toBe('');
    expect(existsSync(place('none'))).toBe(false);
  });

  it('finds the base of a LoRA checkpoint next to it; a new adapter behaves like its base', async () => {
    const [base, adapted] = await Promise.all(
      ['model', 'adapter'].map((name) => evaluate(place(name), '--json', '--threads', '1')),
    );
    expect(adapted?.code, adapted?.stderr).toBe(0);
    expect(JSON.parse(adapted?.stdout ?? '').items).toEqual(JSON.parse(base?.stdout ?? '').items);
  });

  it('prints a table with a line for each word count', async () => {
    const run = await evaluate(place('lost'), '--base', place('model'));
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toMatch(/^words\s+n\s+alignment/);
    expect(run.stdout).toMatch(/^all\s+3/m);
  });

  it('rejects what it cannot use, with exit code 2 and the remedy', async () => {
    cpSync(place('model'), place('cut'), { recursive: true });
    truncateSync(join(place('cut'), 'model.safetensors'), 500);
    const [missing, lost, cut, short, unknown] = await Promise.all([
      evaluate(place('nothing')),
      evaluate(place('lost')),
      evaluate(place('cut')),
      evaluate(place('model'), '--max-completion-length', '3'),
      evaluate(place('model'), '--modle', 'x'),
    ]);
    expect([missing, lost, cut, short, unknown].map((run) => run?.code)).toEqual([2, 2, 2, 2, 2]);
    expect(missing?.stderr).toContain('expected a model folder');
    expect(lost?.stderr).toContain('the base model "somewhere/else" doesn\'t exist');
    expect(lost?.stderr).toContain('--base DIR');
    expect(cut?.stderr).toContain('model.safetensors');
    expect(short?.stderr).toContain('"max_completion_length" of at least 7 tokens');
    expect(unknown?.stderr).toContain("unknown option '--modle'");
  });

  it('returns the reward of greedy replies and each component, with intervals', async () => {
    const replies = place('replies.jsonl');
    const record = (id: string) => ({ ...{ id, post: 'a b', reply: 'c d' }, engagement: NONE });
    writeFileSync(replies, ['x', 'y', 'z'].map((id) => JSON.stringify(record(id))).join('\n'));
    const run = await braid(['evaluate', '--model', place('model'), '--dataset', replies, '--json']);
    expect(run.code, run.stderr).toBe(0);
    const value = JSON.parse(run.stdout);
    expect(value).toMatchObject({ task: 'reply', n: 3, measures: { relevance: {}, reference_overlap: {} } });
    expect(value.items.map(({ id }: { id: string }) => id)).toEqual(['x', 'y', 'z']);
    const mean = value.items.reduce((sum: number, item: { reward: number }) => sum + item.reward / 3, 0);
    expect(value.mean_reward).toBeCloseTo(mean, 12);
    expect(value.low).toBeLessThanOrEqual(value.mean_reward);
    const table = await braid(['evaluate', '--model', place('model'), '--dataset', replies]);
    expect(table.stdout).toMatch(/^greedy replies\s+mean[\s\S]*^engagement\s+0\.\d{3}/m);
  });

  it('names every bad line of the dataset', async () => {
    const bad = place('bad.jsonl');
    writeFileSync(bad, `${readFileSync(dataset, 'utf8')}\n{"id": 3}\nnot json\n`);
    const run = await braid(['evaluate', '--model', place('model'), '--dataset', bad]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(`${bad}, line 4:`);
    expect(run.stderr).toContain(`${bad}, line 5: not JSON`);
  });
});
