import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { draftRecords, importedDataset, recordsSources } from '../../../main/services/reward-trials/draft-records.ts';
import {
  checkDraft,
  type Draft,
  draftSource,
  rescoreDraft,
  trialSources,
  tryDraft,
} from '../../../main/services/reward-trials/drafts.ts';
import { openRewardProcess } from '../../../main/services/reward-trials/process.ts';
import { openSampledAnswers } from '../../../main/services/reward-trials/sampled-answers.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { openTextWorkers } from '../../../main/services/text-worker/workers.ts';
import { forkTrainer } from '../../../main/services/trainer-process/channel.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { processPaths } from '../../processes/paths.ts';
import { sampleOf, temporaryStore } from '../../store/helpers.ts';
import { lines, rewardTs, taskYaml, writeTask } from '../tasks/task-folder.ts';

const root = resolve(import.meta.dirname, '../../..');
const { textWorker, rewardProcess, rewardWorker } = processPaths();
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A workspace with the task `say`, records and a run of three groups. */
function place(budgetMs = 60_000) {
  const store = temporaryStore();
  const folder = writeTask(join(store.folder, 'tasks'));
  const records = ['hi', 'you', 'we'].map((word, i) => ({ id: `r${i}`, word }));
  writeFileSync(join(folder, 'records.jsonl'), lines(...records, { wrd: 'no' }));
  const dataset = join(store.folder, 'data.jsonl');
  writeFileSync(dataset, lines(...records));
  const task = readTaskFolder(folder);
  const { runId } = createRun(store, parseConfig({ task: 'say', dataset }), { task });
  for (const step of [1, 2])
    store.samples.record(
      runId,
      step,
      records.flatMap(({ id, word }, group) =>
        [word, 'something else entirely', `${word} ${word} ${word}`, ''].map((completion, index) =>
          sampleOf({ recordId: id, group, index, completion, reward: index / 4, length: index + 1, terminated: true }),
        ),
      ),
    );
  const rewards = openRewardProcess({ rewardProcess, rewardWorker }, { budgetMs });
  closing.push(() => rewards.close());
  const paths = { resources: join(root, 'resources'), externalRewards: '', kernels: '' };
  const draft: Draft = { name: 'say', definition: taskYaml, reward: rewardTs };
  const workers = openTextWorkers(textWorker);
  closing.push(() => void workers.close());
  return { place: { store, paths, rewards, library: { workers }, sampled: openSampledAnswers() }, draft, runId };
}

describe('openRewardProcess', () => {
  it('says at once why its process cannot start', async () => {
    const { place: app, draft } = place();
    const missing = forkTrainer(join(app.store.folder, 'none.mjs'));
    const rewards = openRewardProcess({ rewardProcess: missing, rewardWorker });
    closing.push(() => rewards.close());
    await expect(rewards.score('check', draftSource(draft, app), [])).rejects.toMatchObject({
      code: 'REWARD_PROCESS_DIED',
      message: expect.stringContaining('Cannot find module'),
      remedy: expect.stringContaining('install Braid again'),
    });
  });

  it('says at once why the thread of its process cannot start', async () => {
    const { place: app, draft } = place();
    const rewards = openRewardProcess({ rewardProcess, rewardWorker: join(app.store.folder, 'none.mjs') });
    closing.push(() => rewards.close());
    const began = performance.now();
    await expect(rewards.score('check', draftSource(draft, app), [])).rejects.toMatchObject({
      code: 'REWARD_THREAD',
      message: expect.stringContaining("can't start: Cannot find module"),
    });
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

describe('checkDraft', () => {
  it('places the faults of both texts, and knows the fields', async () => {
    const { place: app, draft } = place();
    expect(await checkDraft(app, draft)).toMatchObject({
      faults: [],
      facts: { title: 'Say it', fields: { word: 'text' } },
    });
    const broken = { ...draft, reward: 'export function reward() {\n  retrun 1;\n}\n' };
    expect((await checkDraft(app, broken)).faults).toMatchObject([
      { file: 'reward.ts', line: 2, column: expect.any(Number) },
    ]);
    const both = { ...broken, definition: taskYaml.replace('{word}', '{wrd}') };
    const { faults, facts } = await checkDraft(app, both);
    expect(facts).toBeNull();
    expect(faults.map(({ file }) => file)).toEqual(['task.yaml', 'reward.ts']);
    expect(faults[0]).toMatchObject({ line: 3, message: expect.stringContaining('did you mean "word"?') });
    const nothing = { ...draft, reward: 'export const other = 1;' };
    expect((await checkDraft(app, nothing)).faults[0]?.message).toContain('an exported function "reward"');
  });
});

describe('tryDraft', () => {
  it('finds dead groups, ties, failures, the best and the worst', async () => {
    const { place: app, draft, runId } = place();
    const report = await tryDraft(app, draft, { kind: 'run', runId });
    expect(report).toMatchObject({ n: 24, given: 24, total: 24, dead: 0, failures: 0, pairs: 36 });
    expect(report.groups).toHaveLength(6);
    expect(report.best[0]).toMatchObject({ reward: 1.5, components: { said: 1, short: 1 } });
    expect(report.worst[0]).toMatchObject({ reward: 0 });
    expect(report.gaming.names).toEqual(['said', 'short', 'reward', 'loud', 'length', 'repetition']);
    const constant = {
      ...draft,
      reward: 'export const reward = () => ({ said: 1, short: 0 });\nexport const check = () => 1;',
    };
    const dead = await tryDraft(app, constant, { kind: 'run', runId });
    expect(dead).toMatchObject({ dead: 6, ties: 36, mean: 1 });
    const failing = { ...draft, reward: `${rewardTs.replace("'fail'", "''")}` };
    const failed = await tryDraft(app, failing, { kind: 'run', runId });
    expect(failed).toMatchObject({ failures: 6, reasons: [{ n: 6, reason: expect.stringContaining('as asked') }] });
    const none = { ...constant, reward: constant.reward.replace('({ said: 1, short: 0 })', 'null.x') };
    expect(await tryDraft(app, none, { kind: 'run', runId })).toMatchObject({ dead: 0, failedGroups: 6, failures: 24 });
  });

  it('compares completions with those of their group', async () => {
    const { place: app, draft, runId } = place();
    const reward = rewardTs
      .replace(
        '{ record, completion }: Answer<{ word: string }>',
        '{ record, completion }: Answer<{ word: string }>, group',
      )
      .replace('words(completion).length <= 2', 'group.length === 4');
    const report = await tryDraft(app, { ...draft, reward }, { kind: 'run', runId });
    expect(report.best[0]).toMatchObject({ components: { short: 1 } });
    expect(report.worst[0]).toMatchObject({ components: { said: 0, short: 1 } });
  });

  it('stops when its time is up, with what it has', async () => {
    const { place: app, draft, runId } = place(300);
    const slow = {
      ...draft,
      reward: `${rewardTs}\nfor (let i = 0; i < 1; i++);`.replace(
        'return { said',
        'const end = 3e6; let n = 0; while (n < end) n++;\n  return { said',
      ),
    };
    const report = await tryDraft(app, slow, { kind: 'run', runId });
    expect(report.n).toBeGreaterThan(0);
    expect(report.n).toBeLessThan(24);
  });

  it('gives way to a later text, and says why without examples or completions', async () => {
    const { place: app, draft, runId } = place();
    const first = tryDraft(app, { ...draft, reward: `${rewardTs}// 1` }, { kind: 'run', runId });
    const second = tryDraft(app, { ...draft, reward: `${rewardTs}// 2` }, { kind: 'run', runId });
    await expect(first).rejects.toMatchObject({ code: 'REPLACED' });
    expect((await second).n).toBe(24);
    await expect(tryDraft(app, draft, { kind: 'sampled', id: 9 })).rejects.toMatchObject({ code: 'SAMPLED_GONE' });
    const id = app.sampled.keep({ task: 'say', model: 'tiny' }, [
      { fields: { word: 'hi' }, line: 1, completion: 'hi', tokens: 2, finish: 'stop' },
    ]);
    expect((await tryDraft(app, draft, { kind: 'sampled', id })).mean).toBe(1.5);
  });

  it('scores about a thousand stored completions, spread over the run', async () => {
    const { place: app, draft, runId } = place();
    for (let step = 3; step < 86; step++)
      app.store.samples.record(
        runId,
        step,
        Array.from({ length: 12 }, (_, i) =>
          sampleOf({ recordId: `r${i % 3}`, group: i % 3, index: i, completion: `hi ${i}` }),
        ),
      );
    const report = await tryDraft(app, draft, { kind: 'run', runId });
    expect(report.given).toBeGreaterThan(900);
    expect(report.n).toBe(report.given);
  });
});

describe('rescoreDraft', () => {
  it('shows the groups whose order changes', async () => {
    const { place: app, draft, runId } = place();
    const result = await rescoreDraft(app, draft, runId);
    expect(result).toMatchObject({ run_id: runId, n: 24, groups: 6, order_changed: 6, total: 24 });
    expect(result.steps).toHaveLength(2);
    expect(result.changed[0]?.answers).toHaveLength(4);
  });
});

const GENERATED = { task: 'say', words: null, trainN: 1, testN: 0, seed: 1, template: null, textHash: null };

describe('draftRecords', () => {
  it('shows records as prompts, those with faults first', async () => {
    const { place: app, draft } = place();
    expect(recordsSources(app, 'say')).toEqual([
      { label: 'Its own records, training', datasetId: null, side: 'train' },
    ]);
    const page = await draftRecords(app, draft, { datasetId: null, side: 'train' }, { offset: 0, limit: 2 });
    expect(page).toMatchObject({ total: 4, faults: 1, records: [{ kind: 'fault', line: 4 }, { prompt: 'Say hi' }] });
    expect(() => draftRecords(app, draft, { datasetId: 9, side: 'train' }, { offset: 0, limit: 2 })).toThrow(
      'There is no dataset with id 9',
    );
    expect(trialSources(app, 'say')).toMatchObject({ hasExamples: false, runs: [{ task: 'say', completions: 24 }] });
  });

  it("offers datasets made for the task before the folder's own records, the newest first", () => {
    const { place: app } = place();
    expect(importedDataset(app, 'say')).toEqual({});
    for (const name of ['b', 'a']) {
      const file = join(app.store.folder, `${name}.jsonl`);
      writeFileSync(file, lines({ word: name }));
      app.store.datasets.record({ ...GENERATED, name, file });
    }
    const labels = recordsSources(app, 'say').map(({ label }) => label);
    expect(labels).toEqual(['a, training', 'b, training', 'Its own records, training']);
    expect(importedDataset(app, 'say')).toEqual({ dataset: join(app.store.folder, 'a.jsonl') });
  });
});
