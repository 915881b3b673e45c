import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rescoreRun } from '../../../main/services/reward-trials/rescore.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { errorOf, sampleOf, temporaryStore } from '../../store/helpers.ts';
import { rewardWorker } from '../../tasks/sandbox/scoring.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { lines, writeTask } from '../tasks/task-folder.ts';

describe('rescoreRun', () => {
  it('compares the rewards of stored completions, and what would have changed', () => {
    const folder = temporaryFolder();
    const dataset = join(folder, 'records.jsonl');
    writeFileSync(dataset, lines({ id: 'r', word: 'hi' }));
    const task = readTaskFolder(writeTask(folder));
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ task: task.folder, dataset }), { task });
    const of = (group: number, index: number, completion: string, reward: number, recordId = 'r') =>
      sampleOf({ group, index, completion, reward, recordId });
    // In the first group the reward now prefers the other completion.
    store.samples.record(runId, 1, [
      of(0, 0, 'hi', 0),
      of(0, 1, 'one two three', 1),
      of(1, 0, 'hi', 1),
      of(1, 1, 'no', 0),
    ]);
    store.samples.record(runId, 2, [of(0, 0, 'fail', 1), of(0, 1, 'hi', 1), of(1, 0, 'hi', 1, 'gone')]);
    expect(rescoreRun(store, runId, task, rewardWorker)).toMatchObject({
      run_id: runId,
      task: 'say',
      n: 6,
      without_record: 1,
      failures: 1,
      groups: 3,
      order_changed: 1,
      sign_changed: 2,
      dead_before: 1,
      dead_after: 0,
      steps: [
        { step: 1, n: 4, before: 0.5, after: (1.5 + 0 + 1.5 + 0.5) / 4 },
        { step: 2, n: 2, before: 1, after: 1.5 },
      ],
    });
  });

  it('takes what single precision rounds for no change', () => {
    const folder = temporaryFolder();
    const dataset = join(folder, 'records.jsonl');
    writeFileSync(dataset, lines({ id: 'r', word: 'hi' }));
    const reward = 'export const reward = ({ completion }) => ({ said: completion.length / 17, short: 0 });\n';
    const task = readTaskFolder(writeTask(folder, 'say', { 'reward.ts': `${reward}export const check = () => 0;\n` }));
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ task: task.folder, dataset }), { task });
    // The one in the middle gets its group's mean, which single precision puts above or below it.
    const group = ['x', 'xx', 'xxx'].map((completion, index) =>
      sampleOf({ index, completion, reward: Math.fround(completion.length / 17), recordId: 'r' }),
    );
    store.samples.record(runId, 1, group);
    expect(rescoreRun(store, runId, task, rewardWorker)).toMatchObject({ n: 3, order_changed: 0, sign_changed: 0 });
  });

  it("weighs components as the run did, and notices a reward that isn't repeated", () => {
    const folder = temporaryFolder();
    const dataset = join(folder, 'records.jsonl');
    writeFileSync(dataset, lines({ id: 'r', word: 'hi' }));
    const task = readTaskFolder(writeTask(folder));
    const store = temporaryStore();
    const run = (changes: object) =>
      createRun(store, parseConfig({ task: task.folder, dataset, ...changes }), { task });
    const { runId } = run({ reward_weights: [3, 4] });
    const of = (index: number, completion: string, reward: number) =>
      sampleOf({ index, completion, reward, recordId: 'r' });
    store.samples.record(runId, 1, [of(0, 'hi', 7), of(1, 'no', 4)]);
    expect(rescoreRun(store, runId, task, rewardWorker)).toMatchObject({ before: 5.5, after: 5.5, notes: [] });
    store.samples.record(runId, 2, [of(0, 'hi', 7), of(1, 'no', 5)]);
    const [note] = rescoreRun(store, runId, task, rewardWorker).notes;
    expect(note).toContain('1 completion gets another reward now');
    const changed = { ...task, reward: `${task.reward}\n` };
    expect(rescoreRun(store, runId, changed, rewardWorker).notes).toEqual([]);
  });

  it.each(['zero', 'skip_group'])('takes failed completions as the run did: %s', (reward_failure) => {
    const folder = temporaryFolder();
    const dataset = join(folder, 'records.jsonl');
    writeFileSync(dataset, lines({ id: 'r', word: 'hi' }));
    const task = readTaskFolder(writeTask(folder));
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ task: task.folder, dataset, reward_failure }), { task });
    const [failed, beside] = reward_failure === 'zero' ? [0, 1.5] : [Number.NaN, Number.NaN];
    store.samples.record(runId, 1, [
      sampleOf({ completion: 'fail', reward: failed, recordId: 'r' }),
      sampleOf({ index: 1, completion: 'hi', reward: beside, recordId: 'r' }),
    ]);
    const { before, after, notes, failures } = rescoreRun(store, runId, task, rewardWorker);
    expect([after, notes, failures]).toEqual([before, [], 1]);
  });

  it('says which task the records are of where this one does not fit them', () => {
    const folder = temporaryFolder();
    const dataset = join(folder, 'records.jsonl');
    writeFileSync(dataset, lines({ id: 'r', question: 'hi' }));
    const task = readTaskFolder(writeTask(folder));
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ dataset }));
    store.samples.record(runId, 1, [sampleOf({})]);
    expect(errorOf(() => rescoreRun(store, runId, task, rewardWorker))).toMatchObject({
      message: expect.stringContaining('line 1: expected the field "word"'),
      remedy: `Run ${runId} trained the task "interleave" on these records. Give a version of it, or restore the dataset if it was changed.`,
    });
  });

  it('refuses a run without completions', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({}));
    const task = readTaskFolder(writeTask(temporaryFolder()));
    expect(() => rescoreRun(store, runId, task, rewardWorker)).toThrow('has no stored completions');
    expect(() => rescoreRun(store, 99, task, rewardWorker)).toThrow('no run with id 99');
  });
});
