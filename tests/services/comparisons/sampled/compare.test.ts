import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareModels } from '../../../../main/services/comparisons/sampled/compare.ts';
import { agreedTo } from '../../../tasks/openenv/served-task.ts';
import { tinyWorkspace } from '../../tiny-workspace.ts';

describe('compareModels', () => {
  it('leaves intervals and tests to a thread, as seconds of them would hold up the host', async () => {
    const { root, model, dataset, paths } = await tinyWorkspace();
    const compared = compareModels({
      models: [{ name: 'tiny', folder: model }],
      paths: { ...paths, textWorker: join(root, 'none.js') },
      ...{ dataset, task: 'interleave', samples: 1, k: [1], threshold: 1, temperature: 1 },
      ...{ seed: 1, backend: 'wasm', threads: 1 },
    });
    await expect(compared).rejects.toMatchObject({ code: 'TEXT_WORK_START' });
  });

  it("computes rewards in the job's process, as waiting for one would hold up the host", async () => {
    const { root, model, paths } = await tinyWorkspace();
    const dataset = join(root, 'held-out.jsonl');
    writeFileSync(dataset, '{"id":"a","post":"b"}\n');
    const definition = `title: Who asks
fields: { post: text }
prompt: 'Say {post}'
max_completion_length: 2
rewards: { asker: { weight: 1, command: [${JSON.stringify(process.execPath)}, who.mjs] } }
success_threshold: 1
`;
    const files = {
      'who.mjs': `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(JSON.stringify({ id: JSON.parse(line).id, score: process.ppid }) + '\\n');
`,
    };
    const task = { name: 'who', folder: '/tasks/who', definition, reward: '', files };
    const { models } = await compareModels({
      models: [{ name: 'tiny', folder: model }],
      ...{ paths, dataset, task, rewardAccess: agreedTo(task) },
      ...{ samples: 2, k: [1], threshold: 1, temperature: 1, seed: 1, backend: 'wasm', threads: 1 },
    });
    const asker = models[0]?.prompts[0]?.reward;
    expect(asker).toBeGreaterThan(0);
    expect(asker).not.toBe(process.pid);
  });
});
