import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTraining } from '../../main/services/training/training.ts';
import type { TrainConfig } from '../../main/trainer/config/config.ts';
import { leftBy, type TinyWorkspace, tinyWorkspace } from '../services/tiny-workspace.ts';
import { until } from '../until.ts';
import { braid, startBraid } from './braid.ts';

const config: Partial<TrainConfig> = { steps_per_generation: 3, max_steps: 200, save_steps: 10, sample_steps: 7 };

/** A workspace with the configuration as a file. */
async function withConfig() {
  const world = await tinyWorkspace();
  const file = join(world.root, 'config.yaml');
  writeFileSync(file, JSON.stringify(world.config(config)));
  return { ...world, file };
}

/** What an unbroken run leaves in any workspace: it is trained once. */
let whole: Promise<ReturnType<typeof leftBy>> | null = null;
function leftUnbroken(): Promise<ReturnType<typeof leftBy>> {
  whole ??= (async () => {
    const { store, config: make, paths } = await tinyWorkspace();
    const { runId } = await startTraining(store, make(config), { paths }).outcome;
    return leftBy(store, runId, true);
  })();
  return whole;
}

const linesOf = ({ store }: TinyWorkspace, runId: number): number => {
  const file = join(store.folder, store.runs.get(runId)?.folder ?? '', 'metrics.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
};

describe('braid train', () => {
  it('exits with 130 on Ctrl-C with its run saved, and --resume completes it', async () => {
    const world = await withConfig();
    const live = startBraid(['train', '--config', world.file, '--workspace', world.root, '--json']);
    await until(() => linesOf(world, 1) > 3);
    live.kill('SIGINT');
    const { code, stdout, stderr } = await live.ended;
    const report = JSON.parse(stdout);
    expect({ code, report }).toMatchObject({ code: 130, report: { run_id: 1, state: 'stopped' } });
    expect(stderr).toContain('Press Ctrl-C again');
    expect(existsSync(join(report.checkpoint, 'trainer_state.json'))).toBe(true);
    expect(world.store.runs.get(1)).toMatchObject({ state: 'stopped', step: report.steps });

    const resumed = await braid(['train', '--resume', '--workspace', world.root, '--json']);
    expect({ code: resumed.code, ...JSON.parse(resumed.stdout) }).toMatchObject({ code: 0, run_id: 1, state: 'done' });
    expect(leftBy(world.store, 1, true)).toEqual(await leftUnbroken());
  });

  it.skipIf(process.platform === 'win32')('saves its run when its terminal is closed', async () => {
    const world = await withConfig();
    const live = startBraid(['train', '--config', world.file, '--workspace', world.root]);
    await until(() => linesOf(world, 1) > 3);
    live.hangUp();
    await live.ended;
    const run = world.store.runs.get(1);
    expect(run).toMatchObject({ state: 'stopped' });
    const checkpoint = world.store.checkpoints.ofRun(1).at(-1);
    expect(checkpoint?.step).toBe(run?.step);

    for (const { path } of world.store.checkpoints.ofRun(1))
      rmSync(join(world.root, path), { recursive: true, force: true });
    const { code, stderr } = await braid(['train', '--resume', '--steps', '20', '--workspace', world.root]);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Run 1 has no checkpoint: it re/),
    });
  });

  it('exits with 1 where a run that began has failed, as by its reward', async () => {
    const world = await withConfig();
    const folder = join(world.root, 'tasks/failing');
    mkdirSync(folder, { recursive: true });
    const definition = { title: 'Failing', fields: { text: 'text' }, prompt: '{text}', success_threshold: 1 };
    writeFileSync(join(folder, 'task.yaml'), JSON.stringify({ ...definition, max_completion_length: 4 }));
    writeFileSync(join(folder, 'reward.ts'), 'export function reward() { throw new Error("no"); }');
    const records = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((text) => JSON.stringify({ id: text, text }));
    writeFileSync(join(folder, 'records.jsonl'), `${records.join('\n')}\n`);
    const settings = ['--set', 'eval_steps=0', 'steps_per_generation=1', 'eval_dataset=null'];
    const given = [
      '--config',
      world.file,
      '--task',
      'failing',
      '--dataset',
      join(folder, 'records.jsonl'),
      ...settings,
    ];
    const { code, stdout, stderr } = await braid(['train', ...given, '--workspace', world.root, '--json']);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, state: 'failed', steps: 0 });
    expect(stderr).toContain('The reward failed on a completion');
  });

  it('finds a run interrupted whose host was killed, and makes it whole with nothing doubled', async () => {
    const world = await withConfig();
    const live = startBraid(['train', '--config', world.file, '--workspace', world.root, '--json']);
    await until(() => linesOf(world, 1) > 13);
    const trainers = childrenOf(live.pid);
    live.kill('SIGKILL');
    await live.ended;
    expect(world.store.runs.get(1)?.state).toBe('running');
    // The trainer exits by itself: no orphan keeps writing.
    await until(() => trainers.every((pid) => !existsSync(`/proc/${pid}`)));

    const resumed = await braid(['train', '--resume', '--workspace', world.root, '--json']);
    expect({ code: resumed.code, ...JSON.parse(resumed.stdout) }).toMatchObject({ code: 0, run_id: 1, state: 'done' });
    expect(leftBy(world.store, 1, true)).toEqual(await leftUnbroken());
    const { message } = world.store.events.ofRun(1).find(({ kind }) => kind === 'resumed') ?? {};
    expect(message).toMatch(/^Resumed from step \d*0; it was interrupted at step \d+ \(The app \(process \d+\) quit/);
  });
});

/** Processes that a process started; none where unknown on this system. */
function childrenOf(pid: number): readonly string[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean) : [];
}
