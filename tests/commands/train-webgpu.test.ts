import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leftBy, tinyWorkspace } from '../services/tiny-workspace.ts';
import { opened, openGpuForTest } from '../tensor/webgpu/open.ts';
import { until } from '../until.ts';
import { braid, startBraid } from './braid.ts';
import { connectTo, startHost } from './serve-host.ts';

const gpu = await openGpuForTest();
await gpu?.gpu.close();

describe.runIf(gpu !== null)('braid train --backend webgpu', () => {
  it('trains two steps, notes the adapter with the run, and answers by the checkpoint', async () => {
    const world = await tinyWorkspace();
    const file = join(world.root, 'config.yaml');
    writeFileSync(file, JSON.stringify(world.config({ max_steps: 2 })));
    const common = ['--backend', 'webgpu', '--workspace', world.root, '--json'];
    const trained = await braid(['train', '--config', file, ...common]);
    const report = JSON.parse(trained.stdout);
    expect({ code: trained.code, report }).toMatchObject({ code: 0, report: { state: 'done', steps: 2 } });
    const notes = world.store.events.ofRun(report.run_id).map(({ message }) => message);
    expect(notes.find((message) => message.startsWith('webgpu: '))).toMatch(/by WebGPU \(as requested/);

    const evaluated = await braid(['evaluate', '--model', report.checkpoint, '--dataset', world.dataset, ...common]);
    expect(evaluated.code).toBe(0);
    const { software } = opened(gpu).gpu.adapter;
    expect(/Warning: .* is a software adapter/.test(evaluated.stderr)).toBe(software);
    const byWasm = await braid([
      ...['evaluate', '--model', report.checkpoint, '--dataset', world.dataset],
      ...['--backend', 'wasm', '--workspace', world.root, '--json'],
    ]);
    expect(JSON.parse(evaluated.stdout).items).toEqual(JSON.parse(byWasm.stdout).items);
  });

  it('trains in the app, and the run names the adapter', async () => {
    const world = await tinyWorkspace();
    const host = await startHost(world.root);
    const client = await connectTo(host);
    const config = { ...world.config({ max_steps: 2 }), backend: 'webgpu' };
    const { runId } = await client.runs.start({ preset: 'interleave-tiny', config });
    await until(async () => (await client.runs.get({ runId })).endedAt !== null, 120_000);
    const { state, step, events } = await client.runs.get({ runId });
    expect({ state, step }).toEqual({ state: 'done', step: 2 });
    expect(events.map(({ message }) => message)).toContainEqual(expect.stringMatching(/by WebGPU \(as requested/));
  });

  it('stops at Ctrl-C, and --resume gives the numbers of the unbroken run', async () => {
    const world = await tinyWorkspace();
    const file = join(world.root, 'config.yaml');
    writeFileSync(file, JSON.stringify(world.config({ max_steps: 8, beta: 0.1 })));
    const common = ['--backend', 'webgpu', '--workspace', world.root, '--json'];
    expect((await braid(['train', '--config', file, ...common])).code).toBe(0);
    const live = startBraid(['train', '--config', file, ...common]);
    const metrics = (): string => join(world.store.folder, world.store.runs.get(2)?.folder ?? '', 'metrics.jsonl');
    await until(() => existsSync(metrics()) && readFileSync(metrics(), 'utf8').split('\n').length > 2, 120_000);
    live.kill('SIGINT');
    const stopped = await live.ended;
    expect({ code: stopped.code, ...JSON.parse(stopped.stdout) }).toMatchObject({ code: 130, state: 'stopped' });
    const { steps } = JSON.parse(stopped.stdout);
    expect(steps).toBeGreaterThanOrEqual(2);
    expect(steps).toBeLessThan(8);
    // A resumed run keeps its configuration, and its backend is in that.
    const resumed = await braid(['train', '--resume', '--workspace', world.root, '--json']);
    expect({ code: resumed.code, ...JSON.parse(resumed.stdout) }).toMatchObject({ code: 0, run_id: 2, state: 'done' });
    expect(leftBy(world.store, 2, true)).toEqual(leftBy(world.store, 1, true));
  });
});
