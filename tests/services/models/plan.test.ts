import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { planOfModel } from '../../../main/services/models/inspect.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from './places.ts';

const GIB = 2 ** 30;
const plain = { freeBytes: 4 * GIB, gpu: null, native: false };
const gpu = { name: 'RTX 4090', freeBytes: 20 * GIB, shared: false, cuda: false };

describe('planOfModel', () => {
  it('plans every stage within what is given, or what this machine has', async () => {
    const host = modelHost();
    disposeModel(await writeTinyModel(join(host.workspace.models, 'own')));
    const given = planOfModel(host, 'workspace:own', 3 * GIB, plain);
    expect(given).toMatchObject({ device: 'native', budget: 3 * GIB, weightBytes: 4 });
    expect(given.stages.map(({ words, fits }) => [words, fits])).toEqual(
      [10, 25, 50, 100, 200, 500].map((words) => [words, true]),
    );
    expect(planOfModel(host, 'workspace:own', 1, plain).stages.every(({ fits }) => !fits)).toBe(true);
    expect(planOfModel(host, 'workspace:own', null, plain)).toMatchObject({ device: 'wasm', budget: 4 * GIB });
  });

  it("plans within the GPU's memory where runs compute on it, or within that of another GPU", async () => {
    const host = modelHost();
    disposeModel(await writeTinyModel(join(host.workspace.models, 'own')));
    const plan = (bytes: number | null) => planOfModel(host, 'workspace:own', bytes, { ...plain, gpu });
    expect(plan(null)).toMatchObject({ device: 'webgpu', budget: 20 * GIB });
    // Its file is in float32, which webgpu keeps.
    const { parameters, weightBytes, stages } = plan(null);
    expect([weightBytes, stages[0]?.weights]).toEqual([4, 4 * parameters]);
    expect(plan(12 * GIB)).toMatchObject({ device: 'webgpu', budget: 12 * GIB });
  });

  it('rejects a model that it does not know', () => {
    expect(() => planOfModel(modelHost(), 'workspace:none', null, plain)).toThrow(
      expect.objectContaining({ code: 'MODEL_UNKNOWN' }),
    );
  });
});
