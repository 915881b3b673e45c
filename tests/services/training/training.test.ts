import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../../main/services/runs/events.ts';
import { lineage, newestCheckpoint } from '../../../main/services/runs/history.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { type LiveRun, resumeTraining, startTraining } from '../../../main/services/training/training.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { errorOf } from '../../store/helpers.ts';
import { until } from '../../until.ts';
import { leftBy, type TinyWorkspace, tinyWorkspace } from '../tiny-workspace.ts';

/** A generation serves three steps, so that a stop falls into its use; checkpoints every five steps. */
const config: Partial<TrainConfig> = {
  steps_per_generation: 3,
  max_steps: 40,
  save_steps: 5,
  save_total_limit: 1,
  beta: 0.1,
  sample_steps: 3,
};

/** Starts a run and calls `act` once, when its step `at` is reported. */
function runUntil(
  { store, paths, config: make }: TinyWorkspace,
  at: number,
  act: (run: LiveRun) => void,
  changes: Partial<TrainConfig> = config,
): LiveRun {
  let acted = false;
  const onEvents = (events: readonly TrainerEvent[]): void => {
    if (acted || !events.some((event) => event.kind === 'step' && event.step >= at)) return;
    acted = true;
    act(run);
  };
  const run = startTraining(store, make(changes), { paths, onEvents });
  return run;
}

/** Takes a folder away at once: one that is removed file by file may get a new file of the trainer's meanwhile. */
function takeAway(folder: string): void {
  const gone = `${folder}-gone`;
  renameSync(folder, gone);
  rmSync(gone, { recursive: true });
}

describe('a run whose place goes while it trains', () => {
  it.each([
    ['the workspace is removed', ({ root }: TinyWorkspace) => takeAway(root), /was removed/],
    ['the database is removed', ({ root }: TinyWorkspace) => rmSync(join(root, 'braid.db')), /was removed/],
    [
      'the database is replaced',
      ({ root }: TinyWorkspace) => {
        renameSync(join(root, 'braid.db'), join(root, 'old.db'));
        copyFileSync(join(root, 'old.db'), join(root, 'braid.db'));
      },
      /was replaced/,
    ],
  ] as const)('does not end as done when %s', async (_, act, why) => {
    const world = await tinyWorkspace();
    const outcome = await runUntil(world, 2, () => act(world)).outcome;
    expect(outcome).toMatchObject({ state: 'interrupted', error: { code: 'HISTORY_LOST' } });
    expect(outcome.error?.message).toMatch(why);
    expect(outcome.error?.remedy).toContain('Put the old file back');
  });

  it('keeps the checkpoints that the history knows, though newer ones are there', async () => {
    const world = await tinyWorkspace();
    const run = runUntil(world, 7, ({ folder }) => {
      // Waiting here keeps the host from reading about the newer one.
      while (!existsSync(join(folder, 'checkpoint-10')))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      rmSync(join(world.root, 'braid.db'));
    });
    const { step } = await run.outcome;
    const checkpoints = readdirSync(run.folder).filter((name) => name.startsWith('checkpoint-'));
    expect(checkpoints).toEqual(expect.arrayContaining(['checkpoint-5', 'checkpoint-10']));
    expect(step).toBe(0);
  });

  it('says that its folder was removed, though its last checkpoint is there', async () => {
    const world = await tinyWorkspace();
    const remove = () => takeAway(join(world.root, 'outputs'));
    // One checkpoint at the end: one that was being written would fail the run.
    const outcome = await runUntil(world, 7, remove, { ...config, save_steps: 40 }).outcome;
    expect(outcome).toMatchObject({ state: 'done', error: { code: 'RUN_FOLDER_LOST' } });
    expect(outcome.checkpoint).toMatch(/checkpoint-40$/);
    expect(world.store.events.ofRun(outcome.runId).map(({ kind }) => kind)).toContain('files');
  });
});

describe('resumeTraining', () => {
  it('refuses to restart a run from step 0 while the disk of its checkpoints is away', async () => {
    const world = await tinyWorkspace();
    const { store, root, paths } = world;
    const { runId, folder } = createRun(store, world.config(config));
    recordEvents(store, runId, [
      { kind: 'step', step: 5, metrics: { reward: 0.5 } },
      { kind: 'checkpoint', step: 5, path: join(folder, 'checkpoint-5') },
    ]);
    finishRun(store, runId, 'stopped');
    renameSync(join(root, 'outputs'), join(root, 'away'));
    expect(errorOf(() => resumeTraining(store, runId, { paths }))).toMatchObject({
      code: 'RUN_FOLDER_MISSING',
      kind: 'runtime',
      message: expect.stringContaining('checkpoint of step 5'),
      remedy: expect.stringContaining('connect it and try again'),
    });
    expect(store.runs.get(runId)).toMatchObject({ state: 'stopped', step: 5 });
    expect(store.metrics.series(runId, 'reward')).toHaveLength(1);
  });
});

describe('a run through its services', () => {
  it('leaves the same when stopped, or when its trainer is killed, and resumed', async () => {
    const world = await tinyWorkspace();
    const { store, paths } = world;
    const whole = await startTraining(store, world.config(config), { paths }).outcome;
    expect(whole).toMatchObject({ state: 'done', step: 40, error: null, kept: true });
    const expected = leftBy(store, whole.runId, true);
    expect(expected.lines.map(({ step }) => step)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    // Steps that share a generation keep its completions too: 1, every third, and the last.
    expect(expected.log.match(/^=== step/gm)).toHaveLength(15);

    const stopped = await runUntil(world, 4, (run) => run.send({ kind: 'stop' })).outcome;
    expect(stopped).toMatchObject({ state: 'stopped', error: null });
    expect(stopped.step).toBeLessThan(40);
    expect(newestCheckpoint(store, stopped.runId)?.step).toBe(stopped.step);
    expect(await resumeTraining(store, stopped.runId, { paths }).outcome).toMatchObject({ state: 'done' });
    expect(leftBy(store, stopped.runId, true)).toEqual(expected);

    const killed = await runUntil(world, 13, (run) => run.kill()).outcome;
    expect(killed).toMatchObject({
      state: 'interrupted',
      error: { code: 'TRAINER_DIED', message: expect.stringContaining('SIGKILL') },
    });
    const from = newestCheckpoint(store, killed.runId)?.step ?? 0;
    expect(from).toBeGreaterThanOrEqual(10);
    expect(killed.step - from).toBeLessThanOrEqual(5);
    expect(await resumeTraining(store, killed.runId, { paths }).outcome).toMatchObject({ state: 'done' });
    expect(leftBy(store, killed.runId, true)).toEqual(expected);
    const { message } = store.events.ofRun(killed.runId).find(({ kind }) => kind === 'resumed') ?? {};
    expect(message).toMatch(new RegExp(`^Resumed from step ${from}; it was interrupted at step ${killed.step} `));
  });

  it("trains a stage from a checkpoint on that checkpoint's model, with its lineage", async () => {
    const world = await tinyWorkspace();
    const { store, paths } = world;
    const full = await startTraining(store, world.config({ use_peft: false, max_steps: 3 }), { paths }).outcome;
    // The configuration's own model is not the checkpoint's, as with the default of --model.
    const from_checkpoint = full.checkpoint;
    const adapter: Partial<TrainConfig> = { lora_r: 4, lora_target_modules: ['q_proj', 'v_proj'] };
    const stage = { ...config, max_steps: 6, model: 'tiny', from_checkpoint, ...adapter };
    const second = await runUntil(world, 2, (run) => run.send({ kind: 'stop' }), stage).outcome;
    const base = (run: number) => store.checkpoints.ofRun(run).at(-1)?.path ?? '';
    expect(lineage(store, second.runId).ancestors.map(({ id, fromPath }) => [id, fromPath])).toEqual([
      [full.runId, null],
    ]);
    expect(lineage(store, second.runId).run.parentRunId).toBe(full.runId);
    expect(base(second.runId)).not.toBe('');
    const unbroken = await startTraining(store, world.config(stage), { paths }).outcome;
    const expected = leftBy(store, unbroken.runId, true);
    if (second.state === 'stopped') await resumeTraining(store, second.runId, { paths }).outcome;
    expect(leftBy(store, second.runId, true)).toEqual(expected);
    expect(expected.metrics.kl?.[0]?.value).toBe(0);
    // A third stage finds the second's base by the adapter's own configuration.
    const third = await startTraining(
      store,
      world.config({ max_steps: 1, model: 'tiny', from_checkpoint: unbroken.checkpoint, beta: 0.1 }),
      { paths },
    ).outcome;
    expect(third).toMatchObject({ state: 'done', error: null });
    expect(store.metrics.series(third.runId, 'kl')[0]?.value).toBe(0);
    // What deleting a model asks for, and what the run's page shows.
    expect(store.runs.get(third.runId)?.model).toBe(from_checkpoint);
    expect(JSON.parse(store.runs.get(third.runId)?.configJson ?? '{}')).toMatchObject(adapter);
    expect(lineage(store, third.runId).ancestors.map(({ id }) => id)).toEqual([full.runId, unbroken.runId]);
  });

  it('pauses on request and on collapse, resumes on request, and stops while paused', async () => {
    const world = await tinyWorkspace();
    const { store, paths } = world;
    // So cold that all completions of a group are the same: every group is dead.
    const dead: Partial<TrainConfig> = {
      temperature: 1e-6,
      pause_on_collapse: true,
      collapse_patience: 3,
      max_steps: 8,
    };
    const seen: TrainerEvent[] = [];
    let goOn = false;
    const run = startTraining(store, world.config(dead), {
      paths,
      onEvents: (events) => {
        seen.push(...events);
        // Another rule may pause the run once more.
        if (goOn && events.some(({ kind }) => kind === 'paused')) run.send({ kind: 'resume' });
      },
    });
    await until(() => store.runs.get(run.runId)?.state === 'paused');
    const warning = seen.find(({ kind }) => kind === 'warning');
    expect(warning).toMatchObject({ rule: 'dead_groups', step: 3 });
    expect(store.events.ofRun(run.runId).map(({ kind }) => kind)).toContain('warning');
    await sleep(100);
    expect(store.runs.get(run.runId)).toMatchObject({ state: 'paused', step: 3 });
    goOn = true;
    run.send({ kind: 'resume' });
    expect(await run.outcome).toMatchObject({ state: 'done', step: 8, error: null });

    const again = startTraining(store, world.config(dead), { paths });
    await until(() => store.runs.get(again.runId)?.state === 'paused');
    again.send({ kind: 'stop' });
    expect(await again.outcome).toMatchObject({ state: 'collapsed', step: 3, error: null });
    expect(newestCheckpoint(store, again.runId)?.step).toBe(3);
  });
});
