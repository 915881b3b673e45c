import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { resumeTraining, startTraining } from '../../main/services/training/training.ts';
import { leftBy, tinyWorkspace } from '../services/tiny-workspace.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { checkpointDigests, openTiny, tinyRun } from '../trainer/run/tiny-run.ts';

/** What the disk refuses from now on; nothing at first. */
const disk = vi.hoisted(() => ({ refuses: (_path: string): boolean => false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const full = (path: unknown): void => {
    if (!disk.refuses(String(path))) return;
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
  };
  const writing: typeof fs.writeFileSync = (path, ...rest) => {
    full(path);
    fs.writeFileSync(path, ...rest);
  };
  const opening: typeof fs.openSync = (path, flags, ...rest) => {
    if (flags === 'w') full(path);
    return fs.openSync(path, flags, ...rest);
  };
  const asking: typeof fs.accessSync = (path, mode) => {
    full(path);
    fs.accessSync(path, mode);
  };
  const refusing = { ...fs, writeFileSync: writing, openSync: opening, accessSync: asking };
  return { ...refusing, default: refusing };
});

const folder = temporaryFolderOfFile();
const { model } = await openTiny();

describe('a checkpoint that cannot be written', () => {
  it('is named, leaves the one before whole and nothing of its own, on a full disk', async () => {
    const config = { save_steps: 2, save_total_limit: 1 };
    const whole = await tinyRun({ model, config });
    const outputDir = join(folder, 'out');
    disk.refuses = (path) => /checkpoint-4.*optimizer/.test(path);
    const failing = tinyRun({ model, config, outputDir });
    await expect(failing).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringMatching(/the checkpoint of step 4 to .*checkpoint-4: the disk is full/),
      remedy: expect.stringContaining('Free some space'),
    });
    disk.refuses = () => false;
    expect(readdirSync(outputDir)).toEqual(['checkpoint-2']);
    const resumed = await tinyRun({ model, config, outputDir, resumeFrom: join(outputDir, 'checkpoint-2') });
    expect(resumed.steps).toEqual(whole.steps.slice(2));
    expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(whole.checkpoint, true));
  });

  it('ends the run as failed, its history kept, and the run resumes when the folder is back', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const settings = { max_steps: 40, save_steps: 10 };
    const whole = await startTraining(store, config(settings), { paths }).outcome;
    let away: string | null = null;
    const run = startTraining(store, config(settings), {
      paths,
      onEvents: (events) => {
        if (away !== null || !events.some(({ kind }) => kind === 'checkpoint')) return;
        away = `${run.folder}-away`;
        renameSync(run.folder, away);
        writeFileSync(run.folder, 'a file in the way');
      },
    });
    const { error, state, step } = await run.outcome;
    expect({ state, error }).toMatchObject({
      state: 'failed',
      error: { message: expect.stringMatching(/Can't write the checkpoint of step \d0 to /), kind: 'runtime' },
    });
    expect(step).toBeGreaterThanOrEqual(20);
    expect(store.runs.get(run.runId)).toMatchObject({ state: 'failed', reason: error?.message });
    expect(store.metrics.series(run.runId, 'loss')).toHaveLength(step);
    const events = store.events.ofRun(run.runId).map(({ kind }) => kind);
    expect(events).toContain('failed');
    expect(events.filter((kind) => kind === 'files')).toHaveLength(1);

    rmSync(run.folder);
    renameSync(`${run.folder}-away`, run.folder);
    expect(existsSync(join(run.folder, 'checkpoint-10', 'trainer_state.json'))).toBe(true);
    store.checkpoints.record(run.runId, 10, join(run.folder, 'checkpoint-10'), 'periodic');
    disk.refuses = (path) => path === run.folder;
    expect(() => resumeTraining(store, run.runId, { paths })).toThrow(/Can't write the run's next checkpoint/);
    expect(store.runs.get(run.runId)?.state).toBe('failed');
    disk.refuses = () => false;
    expect(await resumeTraining(store, run.runId, { paths }).outcome).toMatchObject({ state: 'done', error: null });
    expect(leftBy(store, run.runId, true).metrics).toEqual(leftBy(store, whole.runId, true).metrics);
  });
});
