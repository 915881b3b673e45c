import { describe, expect, it, vi } from 'vitest';
import type { BackendChoice } from '../../../main/trainer/backend/open-backend.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import type { TrainerStart } from '../../../main/trainer/protocol/start.ts';

const asked = vi.hoisted(() => [] as BackendChoice[]);
vi.mock('../../../main/trainer/backend/open-backend.ts', () => ({
  openBackend: async (choice: BackendChoice) => {
    asked.push(choice);
    throw new Error('no further');
  },
}));
const { openEngine } = await import('../../../main/trainer/run/open-engine.ts');

describe('openEngine', () => {
  it("lets the backend be tried with the run's own model and configuration", async () => {
    const config = parseConfig({ model: 'folder', per_device_train_batch_size: 24 });
    const start = { config, kernelsFile: 'kernels.wasm', modelFolder: 'folder' } as TrainerStart;
    await expect(openEngine(start)).rejects.toThrow('no further');
    expect(asked).toEqual([expect.objectContaining({ modelFolder: 'folder', run: config })]);
  });
});
