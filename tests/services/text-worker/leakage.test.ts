import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLeakage, inspectDataset } from '../../../main/services/text-worker/dataset-tasks.ts';
import type { TextWorkers } from '../../../main/services/text-worker/workers.ts';
import { leakageIn } from '../../../main/services/training/preflight.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const task = readTaskFolder(resolve(import.meta.dirname, '../../../resources/tasks/last-number'));
const shared = 'how many apples are left when nine of the twelve were eaten';

/** A dataset of each question on its side. */
function written(train: readonly object[], test: readonly object[]) {
  const folder = temporaryFolder();
  const write = (name: string, records: readonly object[]): string => {
    const file = join(folder, name);
    writeFileSync(file, records.map((record, i) => JSON.stringify({ id: `${name}-${i}`, ...record })).join('\n'));
    return file;
  };
  return { train: write('d.jsonl', train), test: write('d.test.jsonl', test) };
}

const sums = (...questions: readonly string[]) => questions.map((question) => ({ question, answer: 3 }));
const leaky = () => written(sums(`Tell me ${shared}.`, 'one and two'), sums(`Say ${shared}!`, 'two and one'));

describe('checkLeakage', () => {
  it('compares records of any task, by what was quoted in their prompts', () => {
    expect(checkLeakage({ ...leaky(), task })).toMatchObject({
      clean: false,
      shared_titles: [],
      overlaps: [{ test_id: 'd.test.jsonl-0', train_id: 'd.jsonl-0' }],
    });
    expect(checkLeakage({ ...written(sums('one and two'), sums('two and one')), task }).clean).toBe(true);
  });
});

describe('inspectDataset', () => {
  it('compares replies too', () => {
    const reply = { reply: 'yes', engagement: { likes: 0, reposts: 0, replies: 0 } };
    const files = written([{ post: shared, ...reply }], [{ post: `again: ${shared}`, ...reply }]);
    expect(inspectDataset(files)).toMatchObject({
      task: 'reply',
      leakage: { overlaps: [{ test_id: 'd.test.jsonl-0' }] },
    });
  });
});

describe('leakageIn', () => {
  it('compares what a run of any task trains on and is measured by', async () => {
    const { train, test } = leaky();
    const workers = {
      run: async (_: string, input: Parameters<typeof checkLeakage>[0]) => checkLeakage(input),
    } as unknown as Pick<TextWorkers, 'run'>;
    const config = parseConfig({ task: task.folder, dataset: train, eval_dataset: test });
    const { signal } = new AbortController();
    expect(await leakageIn(workers, { task, config }, signal)).toEqual({ titles: 0, pairs: 1 });
    expect(await leakageIn(workers, { task, config: { ...config, eval_dataset: null } }, signal)).toBeNull();
  });
});
