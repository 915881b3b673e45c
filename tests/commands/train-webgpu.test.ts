import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { openGpuForTest } from '../tensor/webgpu/open.ts';
import { braid } from './braid.ts';

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
    const byWasm = await braid([
      ...['evaluate', '--model', report.checkpoint, '--dataset', world.dataset],
      ...['--backend', 'wasm', '--workspace', world.root, '--json'],
    ]);
    expect(JSON.parse(evaluated.stdout).items).toEqual(JSON.parse(byWasm.stdout).items);
  });
});
