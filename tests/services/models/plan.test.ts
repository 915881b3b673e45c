import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { planOfModel } from '../../../main/services/models/inspect.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from './places.ts';

describe('planOfModel', () => {
  it('plans every stage within what is given, or what this machine has', async () => {
    const host = modelHost();
    disposeModel(await writeTinyModel(join(host.workspace.models, 'own')));
    const given = await planOfModel(host, 'workspace:own', 3 * 2 ** 30);
    expect(given).toMatchObject({ budget: 3 * 2 ** 30, weightBytes: 4 });
    expect(given.stages.map(({ words, fits }) => [words, fits])).toEqual(
      [10, 25, 50, 100, 200, 500].map((words) => [words, true]),
    );
    expect((await planOfModel(host, 'workspace:own', 1)).stages.every(({ fits }) => !fits)).toBe(true);
    expect((await planOfModel(host, 'workspace:own', null)).budget).toBeGreaterThan(2 ** 20);
  });

  it('rejects a model that it does not know', async () => {
    await expect(planOfModel(modelHost(), 'workspace:none', null)).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
  });
});
