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

/** Each process compiles the GPU's programs again, which takes a software adapter seconds: one run serves all. */
describe.runIf(gpu !== null)('braid train --backend webgpu', () => {
  it('notes the adapter, answers by the checkpoint, stops at Ctrl-C, and the app resumes with the same numbers', async () => {
    const world = await tinyWorkspace();
    const file = join(world.root, 'config.yaml');
    writeFileSync(file, JSON.stringify(world.config({ max_steps: 6, beta: 0.1 })));
    const common = ['--backend', 'webgpu', '--workspace', world.root, '--json'];
    const trained = await braid(['train', '--config', file, ...common]);
    const report = JSON.parse(trained.stdout);
    expect({ code: trained.code, report }).toMatchObject({ code: 0, report: { state: 'done', steps: 6 } });
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

    const live = startBraid(['train', '--config', file, ...common]);
    const metrics = (): string => join(world.store.folder, world.store.runs.get(2)?.folder ?? '', 'metrics.jsonl');
    await until(() => existsSync(metrics()) && readFileSync(metrics(), 'utf8').split('\n').length > 2, 300_000);
    live.kill('SIGINT');
    const stopped = await live.ended;
    expect({ code: stopped.code, ...JSON.parse(stopped.stdout) }).toMatchObject({ code: 130, state: 'stopped' });
    const { steps } = JSON.parse(stopped.stdout);
    expect(steps).toBeGreaterThanOrEqual(2);
    expect(steps).toBeLessThan(6);

    // A resumed run keeps its configuration, and its backend is in that.
    const client = await connectTo(await startHost(world.root));
    const { events: before } = await client.runs.get({ runId: 2 });
    await client.runs.resume({ runId: 2 });
    await until(async () => (await client.runs.get({ runId: 2 })).state === 'done', 300_000);
    const { step, events } = await client.runs.get({ runId: 2 });
    expect(step).toBe(6);
    const named = (all: typeof events) => all.filter(({ message }) => /by WebGPU \(as requested/.test(message));
    expect(named(events).length).toBe(named(before).length + 1);
    expect(leftBy(world.store, 2, true)).toEqual(leftBy(world.store, 1, true));
  }, 600_000);
});
