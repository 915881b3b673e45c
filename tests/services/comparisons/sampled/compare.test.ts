import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareModels } from '../../../../main/services/comparisons/sampled/compare.ts';
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
});
