import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../main/store/index.ts';
import { migrations } from '../../main/store/migrations/index.ts';
import { openDatabase } from '../../main/store/open.ts';
import type { SampleFilter, SampleOrder } from '../../main/store/sample-finder.ts';
import { searchQuery } from '../../main/store/samples.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addRun, sampleOf, temporaryStore } from './helpers.ts';

/** The completions that a filter finds. */
function found(store: Store, filter: SampleFilter, order: SampleOrder = 'newest'): string[] {
  const ids = store.sampleFinder.ids(filter, order);
  expect(store.sampleFinder.count(filter)).toEqual({ count: ids.length, isMore: false });
  return store.sampleFinder.read(ids).map(({ completion }) => completion);
}

function twoRuns() {
  const store = temporaryStore();
  const [one, two] = [addRun(store), addRun(store)];
  store.samples.record(one, 1, [
    sampleOf({ completion: 'the quick fox', reward: 0.25, components: { alignment: 0.25, hook: 0.9 } }),
    sampleOf({ index: 1, completion: 'a hen', reward: 1, components: { alignment: 1, hook: 0.1 }, recordId: 'r2' }),
    sampleOf({ index: 2, completion: 'nothing', reward: Number.NaN, components: { hook: Number.NaN } }),
  ]);
  store.samples.record(two, 9, [
    sampleOf({ group: 1, completion: 'the slow fox', reward: 0.5, components: { alignment: 0.5 }, terminated: false }),
  ]);
  return { store, one, two };
}

describe('filters', () => {
  it('find by run, step, group and record', () => {
    const { store, one, two } = twoRuns();
    expect(found(store, { runId: one })).toEqual(['nothing', 'a hen', 'the quick fox']);
    expect(found(store, { step: 9 })).toEqual(['the slow fox']);
    expect(found(store, { runId: two, group: 1 })).toEqual(['the slow fox']);
    expect(found(store, { recordId: 'r2' })).toEqual(['a hen']);
  });

  it('find by reward without the bound itself, and never what has no reward', () => {
    const { store } = twoRuns();
    expect(found(store, { below: 0.5 })).toEqual(['the quick fox']);
    expect(found(store, { above: 0.25 })).toEqual(['the slow fox', 'a hen']);
    expect(found(store, { above: 0.25, below: 1 })).toEqual(['the slow fox']);
  });

  it('find the exact ones, the others, those cut off', () => {
    const { store } = twoRuns();
    expect(found(store, { exact: true })).toEqual(['a hen']);
    expect(found(store, { exact: false })).toEqual(['the slow fox', 'nothing', 'the quick fox']);
    expect(found(store, { terminated: false })).toEqual(['the slow fox']);
  });

  it('find by one reward component', () => {
    const { store } = twoRuns();
    expect(found(store, { component: { name: 'hook', above: 0.5 } })).toEqual(['the quick fox']);
    expect(found(store, { component: { name: 'hook', below: 0.5 } })).toEqual(['a hen']);
    expect(found(store, { component: { name: 'hook' }, below: 0.5 })).toEqual(['the quick fox']);
    expect(store.samples.componentNames()).toEqual(['alignment', 'hook']);
  });

  it('find by turns, by the calls of a tool and by calls that failed, also after an update', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const call = { type: 'function' as const, function: { name: 'price', arguments: {} } };
    const said = (content: string) => ({ role: 'assistant' as const, content });
    const result = (content: string, name = 'price') => ({ role: 'tool' as const, content, name });
    const calling = { ...said(''), tool_calls: [call] };
    store.samples.record(run, 1, [
      sampleOf({ completion: 'good', messages: [calling, result('2'), said('2')] }),
      sampleOf({
        completion: 'bad',
        index: 1,
        messages: [calling, result('{"error":"no"}'), calling, result('2'), said('')],
      }),
      sampleOf({
        completion: 'odd',
        index: 2,
        messages: [calling, result('{"error":"There is no tool \\"x\\""}', 'x'), said('')],
      }),
      sampleOf({ completion: 'plain', index: 3 }),
    ]);
    const by = (name: string, above: number) => found(store, { component: { name, above } });
    expect(store.samples.partNames().filter((name) => name.includes(' '))).toEqual([
      'calls price',
      'failed calls',
      'model turns',
    ]);
    expect(by('calls price', 0)).toEqual(['bad', 'good']);
    expect(by('failed calls', 0)).toEqual(['odd', 'bad']);
    expect(by('model turns', 2)).toEqual(['bad']);
    expect(store.samples.componentNames()).not.toContain('model turns');
    store.samples.record(run, 1, [sampleOf({ completion: 'good', messages: [said('2')] })]);
    expect(by('calls price', 0)).toEqual(['bad']);
  });

  it('order by reward, what has none last', () => {
    const { store } = twoRuns();
    expect(found(store, {}, 'lowest')).toEqual(['the quick fox', 'the slow fox', 'a hen', 'nothing']);
    expect(found(store, {}, 'highest')).toEqual(['a hen', 'the slow fox', 'the quick fox', 'nothing']);
    expect(store.sampleFinder.read(store.sampleFinder.ids({}, 'lowest', 1, 1))[0]?.completion).toBe('the slow fox');
  });
});

describe('words', () => {
  it('find completions across runs or in one, by whole words and the beginning of the last', () => {
    const { store, two } = twoRuns();
    expect(found(store, { words: 'fox the' })).toHaveLength(2);
    expect(found(store, { words: 'fox', runId: two })).toEqual(['the slow fox']);
    expect(found(store, { words: 'the qui' })).toEqual(['the quick fox']);
    expect(found(store, { words: 'qu' })).toEqual([]);
    expect(found(store, { words: 'fox', above: 0.3 })).toEqual(['the slow fox']);
  });

  it('find a part of a text that has no spaces', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [
      sampleOf({ completion: '這是中文測試 fox', prompt: '問題' }),
      sampleOf({ index: 1, completion: 'これは 測試', prompt: '問題' }),
    ]);
    expect(found(store, { words: '測試' })).toHaveLength(2);
    expect(found(store, { words: 'fox 中文' })).toEqual(['這是中文測試 fox']);
    expect(found(store, { words: '問' })).toEqual([]);
    expect(found(store, { words: '問', inPrompts: true })).toHaveLength(2);
  });

  it('find in prompts where asked to', () => {
    const { store } = twoRuns();
    expect(found(store, { words: 'processes' })).toEqual([]);
    expect(found(store, { words: 'processes', inPrompts: true })).toHaveLength(4);
  });

  it('are nothing without a letter, and everything where left empty', () => {
    const { store } = twoRuns();
    expect(found(store, { words: '?! "' })).toEqual([]);
    expect(found(store, { words: '  ' })).toHaveLength(4);
  });

  it('may hold operators and quotes', () => {
    const store = temporaryStore();
    store.samples.record(addRun(store), 1, [sampleOf({ completion: 'she said "go" and NOT stay* (now)' })]);
    for (const words of ['"go"', 'NOT', 'stay*', '(now)', 'said OR', '*', '"', 'completion: AND', '^', '-x']) {
      expect(() => found(store, { words })).not.toThrow();
    }
    expect(found(store, { words: '"go" NOT' })).toHaveLength(1);
    expect(searchQuery('a "bees')).toBe('"a" """bees"*');
  });

  it('follow what is overwritten, discarded and removed', () => {
    const { store, one, two } = twoRuns();
    store.samples.record(two, 9, [sampleOf({ group: 1, completion: 'a walrus', components: { tusks: 2 } })]);
    expect(found(store, { words: 'slow' })).toEqual([]);
    expect(found(store, { words: 'walrus', component: { name: 'tusks', above: 1 } })).toHaveLength(1);
    expect(found(store, { component: { name: 'alignment' } })).toEqual(['a hen', 'the quick fox']);
    store.samples.discardAfter(two, 8);
    expect(found(store, { words: 'walrus' })).toEqual([]);
    store.runs.remove(one);
    expect(found(store, {})).toEqual([]);
    expect(store.samples.componentNames()).toEqual([]);
  });
});

describe('the migration to component rows', () => {
  it('includes what was stored before it', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'braid.db');
    openDatabase(file, { migrations: migrations.filter(({ version }) => version < 4) }).close();
    const db = new Database(file);
    db.exec(`insert into run (id, name, state, method, task, dataset, model, config_json, folder, max_steps, created_at)
      values (1, 'old', 'done', 'grpo', 'interleave', 'd', 'tiny', '{}', 'outputs/old', 10, 0);
      insert into sample (run_id, step, group_index, sample_index, record_id, prompt, target, completion, reward,
        advantage, length, terminated, components_json)
      values (1, 1, 0, 0, 'r', 'p', 't', 'c', 1, 0, 1, 1, '{"alignment":1,"hook":null}')`);
    db.close();
    const store = temporaryStore(folder);
    expect(found(store, { exact: true })).toEqual(['c']);
    expect(store.samples.componentNames()).toEqual(['alignment']);
  });
});
