import { describe, expect, it } from 'vitest';
import { exportSamples, findSamples } from '../../../../main/services/runs/samples/find.ts';
import type { Store } from '../../../../main/store/index.ts';
import { addRun, sampleOf, temporaryStore } from '../../../store/helpers.ts';

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const page = { order: 'newest', limit: 10, offset: 0 } as const;

describe('findSamples', () => {
  it('gives a page without texts but an excerpt, and names the run', () => {
    const store = temporaryStore();
    const run = addRun(store, { name: 'first' });
    store.samples.record(run, 1, [sampleOf({ completion: 'a red fox' }), sampleOf({ index: 1 })]);
    const [only, ...rest] = findSamples(store, { words: 'fox' }, page);
    expect(rest).toEqual([]);
    expect(only).toMatchObject({ runName: 'first', step: 1, index: 0, reward: 0.75 });
    expect(only).not.toHaveProperty('prompt');
    expect(only?.excerpt.find(({ hit }) => hit)?.text).toBe('fox');
    expect(findSamples(store, {}, { ...page, limit: 1, offset: 1 }).map(({ index }) => index)).toEqual([0]);
  });

  it('shows the prompt where the words are only there', () => {
    const store = temporaryStore();
    store.samples.record(addRun(store), 1, [sampleOf()]);
    const [only] = findSamples(store, { words: 'processes', inPrompts: true }, page);
    expect(only?.excerpt.map(({ text }) => text).join('')).toBe('Two processes run side by side');
  });
});

describe('exportSamples', () => {
  async function written(store: Store, format: 'jsonl' | 'csv'): Promise<string> {
    const parts = await all(exportSamples(store, { below: 0.9 }, 'lowest', format));
    expect(parts.at(-1)).toMatchObject({ done: parts.at(-1)?.total });
    return parts.map(({ text }) => text).join('');
  }

  function storeOfTwo(): { store: Store; run: number } {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 3, [
      sampleOf({ completion: 'says "no", twice', reward: 0.5, components: { alignment: 0.5, hook: Number.NaN } }),
      sampleOf({ index: 1, reward: 1 }),
      sampleOf({ index: 2, reward: 0.25, components: { alignment: 0.25, hook: 1 }, prompt: 'two\nlines' }),
    ]);
    return { store, run };
  }

  it('writes JSONL that reads back as what was kept, in the order asked for', async () => {
    const { store, run } = storeOfTwo();
    const lines = (await written(store, 'jsonl')).trim().split('\n');
    const rows = lines.map((line) => JSON.parse(line));
    expect(rows.map(({ index }) => index)).toEqual([2, 0]);
    expect(rows[1]).toMatchObject({
      run_id: run,
      step: 3,
      group: 0,
      record_id: 'r1',
      reward: 0.5,
      terminated: true,
      completion: 'says "no", twice',
      components: { alignment: 0.5, hook: null },
    });
  });

  it('writes CSV with a column for each component, quoted where needed', async () => {
    const { store, run } = storeOfTwo();
    expect(await written(store, 'csv')).toBe(
      [
        'run_id,step,group,index,record_id,reward,advantage,length,terminated,component_alignment,component_hook,completion,target,prompt',
        `${run},3,0,2,r1,0.25,0.5,4,true,0.25,1,red one blue,red one blue two,"two\nlines"`,
        `${run},3,0,0,r1,0.5,0.5,4,true,0.5,,"says ""no"", twice",red one blue two,Two processes run side by side`,
        '',
      ].join('\n'),
    );
  });

  it('writes in parts, so that others get their turn', async () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(
      run,
      1,
      Array.from({ length: 1100 }, (_, index) => sampleOf({ index })),
    );
    const parts = await all(exportSamples(store, {}, 'newest', 'jsonl'));
    expect(parts.map(({ done, total }) => [done, total])).toEqual([
      [500, 1100],
      [1000, 1100],
      [1100, 1100],
    ]);
  });

  it('is a header alone where nothing was found', async () => {
    const store = temporaryStore();
    expect((await written(store, 'csv')).split('\n')).toHaveLength(2);
    expect(await all(exportSamples(store, {}, 'newest', 'jsonl'))).toEqual([]);
  });
});
