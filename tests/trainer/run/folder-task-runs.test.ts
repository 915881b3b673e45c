/** Whole runs of a task with a reward of its own: the same numbers as native code, and what becomes of failures. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sample } from '../../../main/samples/sample.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { replyFolder } from '../../tasks/reply/reply-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { tinyWords } from '../../tiny-model.ts';
import { checkpointDigests, openTiny, type TinyRun, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();

/** The interleave task, written as somebody else would. */
function woven(reward: string, more = ''): FolderSource {
  const definition = `title: Weave
fields: { fragment_a: text, fragment_b: text, target: text }
prompt: '<a> {fragment_a} <b> {fragment_b} <out>'
target: '{target}'
rewards: { alignment: 1 }
highest_reward: 1
success_threshold: 1
show: aligned
${more}`;
  return { name: 'weave', folder: '/tasks/weave', definition, reward };
}

const ALIGNED = `import { alignment } from 'braid';
export const reward = ({ record, completion }) => alignment(record.target, completion);
export const check = ({ tokens, finish }) => (finish === 'stop' ? tokens : 0);`;
const FAILING = `import { alignment } from 'braid';
export const reward = ({ record, completion }) => {
  if (completion.length % 2 === 1) throw new Error('odd');
  return alignment(record.target, completion);
};`;

/** The model's own tokens stand in the prompt's template: in a record's field they would be characters. */
const marked: FolderSource = {
  ...replyFolder,
  definition: replyFolder.definition
    .replace('prompt: text, ', '')
    .replace("prompt: '{prompt}'", "prompt: '<a> {post} <out>'"),
};

const recordsOf = (task: FolderSource) => {
  const opened = openTask(task, '');
  return tinyDataset().train.map((record) => opened.parseRecord(record));
};
/** Posts and replies of the same words in other orders: none is rarer, so native code weighs them as `similarity` does. */
function postsOfAllWords() {
  const from = (i: number): string => [...tinyWords.slice(i), ...tinyWords.slice(0, i)].join(' ');
  return [1, 4, 9, 13].map((i) => {
    const engagement = { likes: i, reposts: 0, replies: 0 };
    const prompt = `<a> ${from(i)} <out>`;
    return openTask('reply', '').parseRecord({
      id: `post ${i}`,
      post: from(i),
      reply: from(i + 5),
      engagement,
      prompt,
    });
  });
}
const samplesIn = (run: TinyRun): readonly Sample[] =>
  run.samples.flatMap((event) => (event.kind === 'samples' ? event.samples : []));

describe('a run of a folder’s task', () => {
  it('has exactly the numbers of the same reward in native code, and the check among its metrics', async () => {
    const task = woven(ALIGNED, 'check: ended\n');
    const native = await tinyRun({ model, config: {} });
    const own = await tinyRun({ model, config: {}, task, records: recordsOf(task) });
    const numbers = own.steps.map((metrics) => {
      const { 'check/ended': check, 'completions/diversity': _, ...rest } = metrics;
      expect(check).toBeGreaterThanOrEqual(0);
      return rest;
    });
    expect(numbers).toEqual(native.steps);
    expect(samplesIn(own)).toEqual(samplesIn(native));
  });

  it('has exactly the numbers of the reply task', async () => {
    const records = postsOfAllWords();
    const native = await tinyRun({ model, config: { task: 'reply' }, records });
    const own = await tinyRun({ model, config: {}, task: marked, records });
    // Only native code has a check here, and what is measured beside one.
    const expected = native.steps.map(({ 'check/reference_overlap': check, 'completions/diversity': _, ...rest }) => {
      expect(check).toBeGreaterThanOrEqual(0);
      return rest;
    });
    expect(own.steps).toEqual(expected);
    expect(samplesIn(own)).toEqual(samplesIn(native));
    expect(new Set(samplesIn(own).map(({ reward }) => reward)).size).toBeGreaterThan(4);
  });

  it('counts failures as 0 and marks them', async () => {
    const task = woven(FAILING);
    const run = await tinyRun({ model, config: { reward_failure: 'zero' }, task, records: recordsOf(task) });
    const samples = samplesIn(run);
    const failed = samples.filter(({ failure }) => typeof failure === 'string');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(samples.length);
    expect(failed[0]).toMatchObject({ reward: 0, failure: expect.stringContaining('reward.ts:3:') });
    expect(run.steps.some(({ reward_failures: share = 0 }) => share > 0 && share <= 1)).toBe(true);
    expect(run.events.filter((event) => event.kind === 'notice' && event.topic === 'reward_failures')).toHaveLength(1);
  });

  it('takes nothing from the group of a failure', async () => {
    const task = woven(FAILING);
    const run = await tinyRun({ model, config: { reward_failure: 'skip_group' }, task, records: recordsOf(task) });
    const groups = run.samples.flatMap((event) =>
      event.kind === 'samples' ? [...Map.groupBy(event.samples, ({ group }) => group).values()] : [],
    );
    for (const group of groups)
      if (group.some(({ failure }) => typeof failure === 'string'))
        expect(group.every(({ advantage }) => advantage === 0)).toBe(true);
    expect(samplesIn(run).some(({ reward }) => Number.isNaN(reward))).toBe(true);
  });

  it('has the same numbers after a stop in the middle of a generation that lost completions to PODS', async () => {
    // Of a skipped group the first four are kept, whether or not the failure is among them.
    const task = woven(FAILING.replace('length % 2 === 1', "includes('wf')"));
    const config = {
      num_generations: 8,
      pods_update_size: 4,
      num_iterations: 2,
      reward_failure: 'skip_group',
    } as const;
    const options = { model, config, task, records: recordsOf(task) };
    const whole = await tinyRun(options);
    const stopped = await tinyRun({ ...options, stopAfter: 3 });
    let scored = 0;
    const { scores } = JSON.parse(readFileSync(join(stopped.checkpoint, 'rng.json'), 'utf8')).generation;
    expect(scores.failures.slice(0, 4)).toEqual([null, null, null, null]);
    expect(scores.rewards[0].slice(0, 4)).toEqual([null, null, null, null]);
    const resumed = await tinyRun({
      ...options,
      resumeFrom: stopped.checkpoint,
      replace: ({ task }) => ({
        task: {
          ...task,
          score: (answers) => {
            scored += answers.length;
            return task.score(answers);
          },
        },
      }),
    });
    expect([...stopped.steps, ...resumed.steps]).toEqual(whole.steps);
    expect([...stopped.samples, ...resumed.samples]).toEqual(whole.samples);
    expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(whole.checkpoint, true));
    // Those that step 5 samples: step 4 reuses what the checkpoint has.
    expect(scored).toBe(16);
    const notices = ({ events }: TinyRun) =>
      events.filter((event) => event.kind === 'notice' && event.topic === 'reward_failures').length;
    expect([whole, stopped, resumed].map(notices)).toEqual([1, 1, 0]);
  });

  it('scores again after a resume from a checkpoint that is older than saved scores', async () => {
    const task = woven(FAILING);
    const config = { num_iterations: 2, reward_failure: 'zero' } as const;
    const options = { model, config, task, records: recordsOf(task) };
    const whole = await tinyRun(options);
    const stopped = await tinyRun({ ...options, stopAfter: 3 });
    const file = join(stopped.checkpoint, 'rng.json');
    const state = JSON.parse(readFileSync(file, 'utf8'));
    delete state.generation.scores;
    rmSync(join(stopped.checkpoint, 'checksums.sha256'));
    writeFileSync(file, JSON.stringify(state));
    const resumed = await tinyRun({ ...options, resumeFrom: stopped.checkpoint });
    expect(resumed.steps).toEqual(whole.steps.slice(3));
    expect(resumed.samples).toEqual(whole.samples.slice(stopped.samples.length));
  });

  it('stops by default, with the record and the place', async () => {
    const task = woven(FAILING);
    await expect(tinyRun({ model, config: {}, task, records: recordsOf(task) })).rejects.toMatchObject({
      code: 'REWARD_FAILED',
      message: expect.stringMatching(/completion of record .*: reward\.ts:3:\d+: Error: odd/),
    });
  });

  it('refuses MaxRL with a negative weight of the task’s own, unless the configuration has others', async () => {
    const source = woven(ALIGNED);
    const task = { ...source, definition: source.definition.replace('alignment: 1', 'alignment: -1') };
    const options = { model, task, records: recordsOf(task) };
    await expect(tinyRun({ ...options, config: { scale_rewards: 'mean' } })).rejects.toMatchObject({
      code: 'BAD_CONFIG',
      kind: 'input',
      message: 'task weave: expected no negative reward_weights with scale_rewards mean, got -1',
    });
    const run = await tinyRun({ ...options, config: { scale_rewards: 'mean', reward_weights: [1], max_steps: 1 } });
    expect(run.steps).toHaveLength(1);
  });

  it('refuses a broken reward, and fine-tuning without a target, before the first step', async () => {
    const broken = woven('export const reward = (');
    await expect(tinyRun({ model, config: {}, task: broken, records: recordsOf(broken) })).rejects.toMatchObject({
      code: 'BAD_REWARD',
    });
    const source = woven(ALIGNED, 'max_completion_length: 8\n');
    const aimless = {
      ...source,
      definition: source.definition.replace(/target: '.*\n/, '').replace('aligned\n', 'plain\n'),
    };
    const records = recordsOf(aimless);
    await expect(tinyRun({ model, config: { method: 'sft' }, task: aimless, records })).rejects.toMatchObject({
      code: 'NO_TARGET',
    });
    await expect(tinyRun({ model, config: { warm_up_steps: 1 }, task: aimless, records })).rejects.toMatchObject({
      code: 'NO_TARGET',
      remedy: expect.stringContaining('set warm_up_steps to 0'),
    });
    const run = await tinyRun({ model, config: { max_steps: 1 }, task: aimless, records });
    expect(samplesIn(run).every(({ length, target }) => length <= 8 && target === '')).toBe(true);
  });
});
