import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resumeTraining, startTraining } from '../../../main/services/training/training.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

it('logs a run from its start over a kill and a pause to its end', async () => {
  const { store, paths, config } = await tinyWorkspace();
  const run = startTraining(store, config({ max_steps: 100, save_steps: 2, save_total_limit: null }), {
    paths,
    onEvents: (events) => {
      if (events.some((event) => event.kind === 'step' && event.step >= 5)) run.kill();
    },
  });
  expect((await run.outcome).state).toBe('interrupted');
  // Without the times.
  const read = (): string[] =>
    readFileSync(join(run.folder, 'training.log'), 'utf8')
      .split('\n')
      .map((line) => line.replace(/^\d{4}-.{14}Z {2}/, ''));
  const first = read();
  expect(first[0]).toMatch(/^step 0 {2}Started by Braid .*: grpo, 100 steps, seed 42/);
  expect(first).toContainEqual(expect.stringMatching(/^step 0 {2}Backend: wasm, 1 thread/));
  expect(first).toContain(`step 4  Checkpoint: ${join(run.folder, 'checkpoint-4')}`);
  expect(first.at(-3)).toMatch(/^step \d+ {2}Error: Run 1: .*SIGKILL/);
  expect(first.at(-2)).toBe('    Resume the run: it continues from its last checkpoint.');

  const checkpoint = { step: 4, path: join(run.folder, 'checkpoint-4') };
  const again = resumeTraining(store, run.runId, {
    paths,
    checkpoint,
    maxSteps: 8,
    onEvents: (events) => {
      if (events.some(({ kind }) => kind === 'paused')) again.send({ kind: 'resume' });
    },
  });
  // Before its first step.
  again.send({ kind: 'pause' });
  expect((await again.outcome).state).toBe('done');
  const second = read();
  const resumed = second.findIndex((line) => /^step 4 {2}Resumed from step 4 by Braid/.test(line));
  expect(second[resumed]).toMatch(/it was interrupted at step \d+ \(.*SIGKILL/);
  // What came after the checkpoint is cut like the metrics.
  expect(second.slice(0, resumed)).toEqual(first.slice(0, resumed));
  expect(second.slice(0, resumed).join('\n')).not.toMatch(/SIGKILL|step [5-8] /);
  expect(second.some((line) => /Paused: /.test(line))).toBe(true);
  expect(second.some((line) => /Resumed after the pause/.test(line))).toBe(true);
  expect(second.at(-2)).toMatch(/^step 8 {2}Finished; its last checkpoint is .*checkpoint-8$/);
});
