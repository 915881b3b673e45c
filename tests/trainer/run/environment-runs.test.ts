import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { scoreCompletions as logpsOf } from '../../../main/model/score.ts';
import type { Sample } from '../../../main/samples/sample.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { planBatches } from '../../../main/trainer/batching/batching.ts';
import type { ScoredGeneration } from '../../../main/trainer/batching/generation.ts';
import { startOfPrompts } from '../../../main/trainer/batching/prompt-stream.ts';
import { groupsOfRows } from '../../../main/trainer/batching/rows.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { openLocalEngine } from '../../../main/trainer/local/local-engine.ts';
import { microBatchLoss, withBatch } from '../../../main/trainer/local/micro-batch-loss.ts';
import { generateAndScore } from '../../../main/trainer/loops/next-generation.ts';
import { openPhases } from '../../../main/trainer/monitor/phases.ts';
import { completionLogps } from '../../../main/trainer/policy/policy.ts';
import { agreedTo, guessTask } from '../../tasks/openenv/served-task.ts';
import { checkpointDigests, openTiny, type TinyRun, tinyRun, tinySession } from './tiny-run.ts';

const { runtime, model } = await openTiny();

/** The model says a word, the environment another one, and the second turn is worth something if it repeats that. */
const ECHO = `
export const step = ({ record, messages, turn, state }) => {
  const said = messages[messages.length - 1].content.trim().split(' ');
  if (turn === 1) return { message: record.word + ' ' + record.word, done: false, state: { first: said[0] } };
  if (turn === 2 && said[0] === state.first) return { message: record.word, done: false, reward: 0.1 };
  return { reward: said.filter((one) => one === record.word).length / 3, done: true };
};`;

function played(step: string, more = ''): FolderSource {
  const definition = `title: Echo
fields: { word: text }
prompt: '<a> {word} <out>'
environment: { max_turns: 3, max_turn_tokens: 3 }
max_completion_length: 16
rewards: { reward: 1 }
success_threshold: 1
${more}`;
  return { name: 'echo', folder: '/tasks/echo', definition, reward: step };
}

const recordsOf = (task: FolderSource) => {
  const opened = openTask(task, '');
  return ['wa', 'wb', 'wc', 'wd'].map((word, i) => opened.parseRecord({ word, id: String(i) }));
};
const options = (config: Partial<TrainConfig> = {}, task = played(ECHO)) => ({
  model,
  task,
  records: recordsOf(task),
  config: { use_peft: false, per_device_train_batch_size: 8, num_generations: 4, ...config },
});
const samplesIn = (run: TinyRun): readonly Sample[] =>
  run.samples.flatMap((event) => (event.kind === 'samples' ? event.samples : []));

/** A generation as the run samples it, with what its session has. */
async function sampled(config: Partial<TrainConfig>) {
  const session = tinySession(options(config));
  const engine = openLocalEngine(session);
  const plan = planBatches(session.config, session.records.length);
  const io = { phases: openPhases(), emit: () => undefined, addTokens: () => undefined, addGroups: () => undefined };
  const { generation } = await generateAndScore(session, engine, plan, 0, startOfPrompts, io);
  return { session, plan, generation };
}

describe('the loss of a completion in turns', () => {
  it('compares with the log-probabilities of one pass over the whole sequence', async () => {
    const { session, generation } = await sampled({ num_iterations: 2 });
    const { prompts, completions, oldLogps } = generation;
    const items = completions.map(({ ids }, row) => ({
      promptIds: prompts[Math.floor(row / 4)]?.promptIds ?? [],
      completionIds: ids,
    }));
    const whole = items.map((item) => logpsOf(session.policy.model, null, [item])[0] ?? new Float32Array());
    expect(completions.some(({ toolMask = [] }) => toolMask.includes(0))).toBe(true);
    for (const [row, logps] of whole.entries())
      for (const [i, logp] of logps.entries())
        expect(Math.abs(logp - (oldLogps?.[row]?.[i] ?? Number.NaN))).toBeLessThan(1e-5);
    session.dispose();
  });

  it('has the gradient of the model’s own tokens alone, and is divided by their number', async () => {
    const { session, plan, generation } = await sampled({});
    const micro = { generation: 0, generate: true, iteration: 0, firstRow: 0, endRow: 8 };
    const result = microBatchLoss(session, plan, generation, micro);
    const { gradients, own } = literalGradients(session, generation);
    expect(own).toBeLessThan(generation.completions.flatMap(({ ids }) => ids).length);
    const names = Object.keys(result.gradients);
    const found = names.flatMap((name) => Array.from(result.gradients[name]?.dataSync() ?? []));
    const expected = names.flatMap((name) => gradients[name] ?? []);
    expect(Math.max(...expected.map(Math.abs))).toBeGreaterThan(1e-4);
    expect(Math.max(...expected.map((value, i) => Math.abs(value - (found[i] ?? Number.NaN))))).toBeLessThan(1e-6);
    tf.dispose(result.gradients);
    session.dispose();
  });

  it('counts only the model’s tokens in lengths, entropy and tokens seen', async () => {
    const { session, plan, generation } = await sampled({});
    const lengths = generation.completions.map(({ toolMask = [] }) => toolMask.filter((one) => one === 1).length);
    expect(generation.metrics['completions/mean_length']).toBe(lengths.reduce((a, b) => a + b, 0) / lengths.length);
    const micro = { generation: 0, generate: true, iteration: 0, firstRow: 0, endRow: 8 };
    const { entropy, gradients } = microBatchLoss(session, plan, generation, micro);
    expect(entropy.tokens).toBe(lengths.reduce((a, b) => a + b, 0));
    tf.dispose(gradients);
    session.dispose();
  });
});

/** dapo with a ratio of 1 by hand: -advantage / number of own tokens, at each own token. */
function literalGradients(session: ReturnType<typeof tinySession>, generation: ScoredGeneration) {
  const { completions, result } = generation;
  const columns = Math.max(...completions.map(({ ids }) => ids.length));
  const own = completions.flatMap(({ toolMask = [] }) => toolMask).filter((one) => one === 1).length;
  const weights = completions.flatMap(({ toolMask = [] }, row) =>
    Array.from({ length: columns }, (_, i) => (toolMask[i] === 1 ? -(result.advantages[row] ?? 0) / own : 0)),
  );
  const all = completions.map((_, row) => row);
  return withBatch(groupsOfRows(generation, all, 4), columns, (batch) => {
    const variables = session.parameters.map(({ value }) => value);
    const found = tf.tidy(() =>
      tf
        .grads(() => {
          const { logps } = completionLogps(session.policy, batch, 1);
          return tf.sum(tf.mul(logps, tf.tensor2d(weights, [completions.length, columns])));
        })(variables)
        .map((gradient) => Array.from(gradient.dataSync())),
    );
    return { own, gradients: Object.fromEntries(session.parameters.map(({ name }, i) => [name, found[i]])) };
  });
}

describe('a run of a task with an environment', () => {
  it('keeps conversations, whose rows end after different numbers of turns', async () => {
    const run = await tinyRun(options({ max_steps: 2, sample_steps: 1, eval_steps: 2 }));
    const samples = samplesIn(run);
    for (const { messages = [], completion } of samples) {
      expect(messages[0]?.role).toBe('assistant');
      expect(messages[1]).toMatchObject({ role: 'user', content: expect.stringMatching(/^(w\w) \1$/) });
      const own = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
      expect(completion).toBe(own.join('\n'));
    }
    expect(new Set(samples.map(({ messages = [] }) => messages.length)).size).toBeGreaterThan(1);
    expect(run.steps[0]?.['environment/turns']).toBeGreaterThanOrEqual(2);
  });

  it('has the same numbers after a stop in the middle of a generation, and the same again', async () => {
    const config = { max_steps: 4, num_iterations: 2 };
    const whole = await tinyRun(options(config));
    const first = await tinyRun({ ...options(config), stopAfter: 1 });
    const rest = await tinyRun({ ...options(config), resumeFrom: first.checkpoint });
    expect([...first.steps, ...rest.steps]).toEqual(whole.steps);
    expect(checkpointDigests(rest.checkpoint, false)).toEqual(checkpointDigests(whole.checkpoint, false));
  });

  it.each([
    [
      'throws',
      'export const step = ({ turn }) => { if (turn > 1) throw new Error("no"); return { message: "wa", done: false }; };',
      /reward\.ts:1:\d+: Error: no/,
    ],
    ['never ends', 'export const step = () => { for (;;); };', /took longer than 50 ms/],
    [
      'says too much',
      'export const step = () => ({ message: "wa ".repeat(1e5), done: false });',
      /300000 characters, at most 20000/,
    ],
    ['misspells', 'export const step = () => ({ mesage: "wa", done: false });', /"mesage"; did you mean "message"/],
    ['says nothing', 'export const step = () => ({ done: false });', /gave no "message"/],
    ['is no number', 'export const step = () => ({ reward: NaN, done: true });', /finite number, got NaN/],
  ])('marks a completion whose step %s', async (_, step, reason) => {
    const task = played(step, 'time_limit_ms: 50\n');
    const config = { max_steps: 1, num_generations: 2, per_device_train_batch_size: 2 };
    const run = await tinyRun(options({ ...config, reward_failure: 'zero' }, task));
    expect(samplesIn(run)).toHaveLength(2);
    for (const { failure, reward } of samplesIn(run)) {
      expect(failure).toMatch(reason);
      expect(reward).toBe(0);
    }
    await expect(tinyRun(options(config, task))).rejects.toMatchObject({ code: 'REWARD_FAILED' });
  });

  it('cuts off a completion whose answer has no room, and leaves it out where such are', async () => {
    const task = played('export const step = () => ({ message: "wa ".repeat(20), done: false, reward: 1 });');
    const run = await tinyRun(options({ max_steps: 1 }, task));
    expect(samplesIn(run).every(({ terminated, messages = [] }) => !terminated && messages.length === 2)).toBe(true);
    expect(run.steps[0]?.['completions/clipped_ratio']).toBe(1);
  });

  it('plays on a server: one that dies fails the completions that it has, and the same actions are noticed to differ', async () => {
    const source = guessTask({ action: { guess: '{seed}', said: '{completion}' }, max_turns: 2 }, ['take']);
    const task = openTask(source, '', agreedTo(source));
    const records = [1, 2, 9, 4].map((seed) => task.parseRecord({ seed, id: String(seed) }));
    const config = {
      max_steps: 2,
      num_generations: 2,
      per_device_train_batch_size: 4,
      reward_failure: 'zero',
    } as const;
    const run = await tinyRun({ ...options(config), task: source, records, replace: () => ({ task }) }).finally(
      task.close,
    );
    const failures = samplesIn(run).map(({ failure }) => failure);
    expect(failures.filter((why) => why === null).length).toBeGreaterThanOrEqual(4);
    expect(failures).toContain('environment: the server ended with code 3: Traceback: nine is not allowed');
    expect(samplesIn(run).filter(({ reward }) => reward === 1).length).toBeGreaterThanOrEqual(4);
    expect(run.events.filter((event) => event.kind === 'notice' && event.topic === 'environment_changed')).toHaveLength(
      1,
    );
  });

  it('plays the same on a server after a stop in the middle of a generation', async () => {
    const source = guessTask({ action: { guess: '{seed}', said: '{completion}' }, max_turns: 2 });
    const task = openTask(source, '', agreedTo(source));
    const records = [1, 2, 3, 4].map((seed) => task.parseRecord({ seed, id: String(seed) }));
    const config = { max_steps: 4, num_iterations: 2 };
    const own = { ...options(config), task: source, records, replace: () => ({ task }) };
    const whole = await tinyRun(own);
    const first = await tinyRun({ ...own, stopAfter: 1 });
    const rest = await tinyRun({ ...own, resumeFrom: first.checkpoint });
    task.close();
    expect([...first.steps, ...rest.steps]).toEqual(whole.steps);
    expect(checkpointDigests(rest.checkpoint, false)).toEqual(checkpointDigests(whole.checkpoint, false));
  });

  it('refuses methods that know single texts only, in words', async () => {
    for (const method of ['sft', 'polychromic-sft', 'polychromic-grpo'] as const)
      await expect(tinyRun(options({ method }))).rejects.toMatchObject({
        code: 'ENVIRONMENT_METHOD',
        message: expect.stringContaining('environment'),
      });
  });

  it('learns to repeat what the environment says, with nothing left in memory', async () => {
    const before = { tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() };
    const run = await tinyRun(
      options({ max_steps: 60, learning_rate: 2e-2, per_device_train_batch_size: 32, num_generations: 8 }),
    );
    const mean = (part: TinyRun['steps']): number =>
      part.reduce((sum, { reward = 0 }) => sum + reward, 0) / part.length;
    expect(mean(run.steps.slice(-8))).toBeGreaterThan(mean(run.steps.slice(0, 8)) + 0.25);
    expect({ tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() }).toEqual(before);
  });
});
