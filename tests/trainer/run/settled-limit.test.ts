/** The limit of completions that a run chooses from a few of them, and keeps. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { openLocalEngine } from '../../../main/trainer/local/local-engine.ts';
import { tryLengths } from '../../../main/trainer/rollout/try-lengths.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { openTiny, tinyRun, tinySession } from './tiny-run.ts';

const { model } = await openTiny();

const short: FolderSource = {
  name: 'first',
  folder: '/tasks/first',
  definition: `title: First words
fields: { fragment_a: text, fragment_b: text }
prompt: '<a> {fragment_a} <b> {fragment_b} <out>'
target: '{fragment_a}'
success_threshold: 1
`,
  reward: 'export const reward = ({ completion }) => completion.length;',
};
const task = openTask(short, '');
const records = tinyDataset().train.map((record) => task.parseRecord(record));
const limitIn = (checkpoint: string): unknown =>
  (JSON.parse(readFileSync(join(checkpoint, 'rng.json'), 'utf8')) as { maxCompletionLength?: unknown })
    .maxCompletionLength;

describe('a run whose targets say little of its completions', () => {
  const config = { max_completion_length: null } as const;

  it('tries completions beyond the targets, and again finds the same', async () => {
    const session = tinySession({ model, config, task: short, records });
    const { trialLength = 0, maxCompletionLength } = session;
    expect(trialLength).toBeGreaterThan(maxCompletionLength);
    const engine = openLocalEngine(session);
    const [first, second] = [
      await tryLengths({ ...session, engine }, { ...session, trialLength }),
      await tryLengths({ ...session, engine }, { ...session, trialLength }),
    ];
    expect(second).toEqual(first);
    expect(first.maxCompletionLength).toBeGreaterThanOrEqual(maxCompletionLength);
    expect(first.sampled.completions).toBe(16);
    session.dispose();
  });

  it('says how many targets its limit cuts off, and resumes with the limit of its checkpoint', async () => {
    const run = { model, config: { ...config, max_steps: 1 }, task: short, records };
    const { checkpoint, events } = await tinyRun({ ...run, replace: () => ({ maxCompletionLength: 1 }) });
    const notice = events.find((event) => event.kind === 'notice' && event.topic === 'long_targets');
    const message = expect.stringMatching(
      /^(\d+) of \1 targets have more tokens than max_completion_length \(1\); the/,
    );
    expect(notice).toMatchObject({ message });
    expect(limitIn(checkpoint)).toBe(1);
    const resumed = tinySession({ model, config, task: short, records, resumeFrom: checkpoint });
    expect(resumed).toMatchObject({ maxCompletionLength: 1 });
    expect(resumed.trialLength).toBeUndefined();
    resumed.dispose();
  });
});

describe('a limit below the longest target', () => {
  it('is refused where targets are learned, and only there', () => {
    const config = { max_completion_length: 2 };
    const refused = expect.objectContaining({ code: 'COMPLETION_TOO_SHORT' });
    for (const learns of [{ method: 'sft' }, { warm_up_steps: 1 }] as const)
      expect(() => tinySession({ model, config: { ...config, ...learns } })).toThrow(refused);
    const opened = tinySession({ model, config });
    expect(opened.maxCompletionLength).toBe(2);
    opened.dispose();
  });
});
