import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordHubModel } from '../../../main/services/models/hub-origin.ts';
import { resolveModelParts } from '../../../main/services/models/resolve.ts';
import { errorOf, temporaryFolder } from '../../store/helpers.ts';

it("finds an adapter's base by its Hub name among the models of the workspace", () => {
  const root = temporaryFolder();
  const [models, adapter] = [join(root, 'models'), join(root, 'adapter')];
  const base = join(models, 'Small-1B');
  for (const folder of [base, adapter]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(adapter, 'adapter_config.json'), JSON.stringify({ base_model_name_or_path: 'someone/Small-1B' }));
  const parts = (paths: { resources: string; models?: string }) => resolveModelParts(adapter, paths);
  const missing = { code: 'BASE_MISSING', remedy: expect.stringContaining('braid download') };
  expect(errorOf(() => parts({ resources: root, models }))).toMatchObject(missing);
  writeFileSync(join(base, 'config.json'), '{}');
  expect(parts({ resources: join(root, 'r'), models })).toMatchObject({ base, adapter });
  expect(errorOf(() => parts({ resources: join(root, 'r') }))).toMatchObject(missing);
  recordHubModel(base, { repo: 'other/Small-1B', revision: 'main' });
  expect(errorOf(() => parts({ resources: join(root, 'r'), models }))).toMatchObject(missing);
  recordHubModel(base, { repo: 'Someone/small-1b', revision: 'main' });
  expect(parts({ resources: join(root, 'r'), models }).base).toBe(base);
});
