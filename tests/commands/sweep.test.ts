import { renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changeSettings } from '../../main/services/workspace/settings.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { until } from '../until.ts';
import { braid, startBraid } from './braid.ts';

async function bench(changes: object = {}) {
  const world = await tinyWorkspace();
  const config = join(world.root, 'short.yaml');
  writeFileSync(config, JSON.stringify(world.config({ max_steps: 3, eval_records: 2, ...changes })));
  const run = (...args: string[]) => braid([...args, '--workspace', world.root]);
  return { ...world, file: config, run };
}

describe('braid sweep', () => {
  it('trains a grid with seeds, prints the table, and shows it again', async () => {
    const { file, run, store } = await bench();
    const made = await run('sweep', '--config', file, '--grid', 'learning_rate=1e-5,1e-3', '--seeds', '2', '--json');
    expect(made).toMatchObject({ code: 0 });
    const report = JSON.parse(made.stdout);
    expect(report).toMatchObject({ state: 'done', runs: 4, over: 4, failed: 0, score: 'held-out' });
    expect(report.settings).toMatchObject([
      { values: { learning_rate: 1e-5 }, n: 2, interval: { low: expect.any(Number) } },
      { values: { learning_rate: 1e-3 }, n: 2 },
    ]);
    expect(store.runs.list()).toHaveLength(4);
    const shown = await run('sweep', '--show', '1');
    expect(shown.stdout).toMatch(/learning_rate 1e-5 +2\/2 +0\.\d+/);
    // Two steps may leave both where they were.
    expect(shown.stdout).toMatch(/leads|tied/);
    expect((await run('sweep', '--list')).stdout).toContain('done, 4 of 4 runs over');
  }, 180_000);

  it('reads a plan file; options override it', async () => {
    const { root, file, run } = await bench();
    const plan = join(root, 'plan.yaml');
    writeFileSync(plan, 'name: ranks\nfields:\n  lora_r: [2, 4]\nconfig:\n  max_steps: 2\n');
    const found = await run('sweep', plan, '--config', file, '--seeds', '7', '--estimate', '--json');
    expect(found).toMatchObject({ code: 0 });
    expect(JSON.parse(found.stdout)).toMatchObject({ runs: 14, kinds: 2, measured: 2, seconds: expect.any(Number) });
    const random = ['--random', 'learning_rate=1e-6..1e-3:log', '--trials', '3', '--halving', '1,2', '--queue'];
    const queued = await run('sweep', plan, '--config', file, ...random, '--seeds', '1', '--json');
    expect(JSON.parse(queued.stdout)).toMatchObject({ name: 'ranks', state: 'queued', rungs: [1, 2, 3] });
    expect((await run('queue')).stdout).toContain('1  sweep:1  ranks');
  }, 120_000);

  it('refuses what can not be a plan', async () => {
    const { file, run, store } = await bench();
    const refuse = async (message: string, ...args: string[]) =>
      expect(await run('sweep', '--config', file, ...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
    await refuse('Expected a plan, --grid, --random or --seeds');
    await refuse('got --estimate and --queue', '--seeds', '2', '--estimate', '--queue');
    await refuse('Expected --retry together with --resume', '--seeds', '2', '--retry');
    await refuse('learning_rate', '--grid', 'lr=1');
    await refuse('learning_rate -1', '--grid', 'learning_rate=-1');
    await refuse('Expected --grid field=values', '--grid', 'learning_rate');
    await refuse('Expected at most 500 runs', '--grid', 'learning_rate=1,2', '--seeds', '50', '--grid', many());
    expect(store.sweeps.list()).toEqual([]);
  }, 120_000);

  it('continues with --resume after it was killed', async () => {
    const { file, run, root, store } = await bench({ max_steps: 2000, save_steps: 2, eval_steps: 0 });
    const child = startBraid(['sweep', '--config', file, '--seeds', '1', '--workspace', root]);
    await until(() => (store.runs.list()[0]?.step ?? 0) >= 3);
    child.kill('SIGKILL');
    await child.ended;
    expect(store.sweeps.get(1)?.state).toBe('running');
    // So that the rest takes seconds.
    const max_steps = (store.runs.get(1)?.step ?? 0) + 20;
    const config = { ...JSON.parse(store.runs.get(1)?.configJson ?? '{}'), max_steps };
    store.runs.setMaxSteps(1, max_steps, JSON.stringify(config));
    const resumed = await run('sweep', '--resume', '--json');
    expect(resumed.code).toBe(0);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ state: 'done', settings: [{ trials: [{ run_id: 1 }] }] });
    expect(store.events.ofRun(1).some(({ kind }) => kind === 'resumed')).toBe(true);
    expect(store.runs.list()).toHaveLength(1);
  }, 180_000);
});

function many(): string {
  return `lora_r=${Array.from({ length: 30 }, (_, i) => i + 1).join(',')}`;
}

describe('braid queue', () => {
  it('stores the files that were typed, wherever the run is trained', async () => {
    const { run, file, store, root, dataset } = await bench();
    const model = join(root, 'models', 'tiny-test');
    const typed = (path: string): string => relative(process.cwd(), path);
    const paths = ['--dataset', typed(dataset), '--model', typed(model)];
    expect(await run('queue', 'add', '--config', file, ...paths)).toMatchObject({ code: 0 });
    expect(store.queue.getRun(1)?.config).toMatchObject({ dataset, model });
  });

  it('adds, moves, removes and runs', async () => {
    const { file, run, store, dataset } = await bench();
    for (const name of ['one', 'two', 'three']) await run('queue', 'add', '--config', file, '--name', name);
    expect((await run('queue', 'move', 'run:3', '1')).stdout).toMatch(/1 {2}run:3 {2}three\n2 {2}run:1/);
    expect((await run('queue', 'remove', 'run:1', '--json')).stdout).toContain('"place":"run:2"');
    expect(await run('queue', 'remove', 'run:9')).toMatchObject({ code: 2 });
    // That nothing starts by itself is for the app: here somebody has said so.
    changeSettings(store, { run_queue: false });
    store.queue.setReason(2, 'The disk was full');
    expect(await run('queue', 'run')).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing waits.') });
    expect(store.runs.list().map(({ name, state }) => `${name} ${state}`)).toEqual(['two done', 'three done']);
    await run('queue', 'add', '--config', file, '--name', 'four');
    renameSync(dataset, `${dataset}.away`);
    const failed = await run('queue', 'run');
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('could not start') });
  }, 180_000);
});
