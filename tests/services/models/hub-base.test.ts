import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { recordHubModel } from '../../../main/services/models/hub-origin.ts';
import { resolveModelParts } from '../../../main/services/models/resolve.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

it("finds an adapter's base by its Hub name among the models of the workspace", () => {
  const root = temporaryFolder();
  const [models, adapter] = [join(root, 'models'), join(root, 'adapter')];
  const base = join(models, 'Small-1B');
  for (const folder of [base, adapter]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(adapter, 'adapter_config.json'), JSON.stringify({ base_model_name_or_path: 'someone/Small-1B' }));
  const parts = (paths: { resources: string; models?: string }) => resolveModelParts(adapter, paths);
  const missing = { code: 'BASE_MISSING', remedy: expect.stringContaining('download it on the Models screen') };
  expect(errorOf(() => parts({ resources: root, models }))).toMatchObject(missing);
  writeFileSync(join(base, 'config.json'), '{}');
  expect(parts({ resources: join(root, 'r'), models })).toMatchObject({ base, adapter });
  expect(errorOf(() => parts({ resources: join(root, 'r') }))).toMatchObject(missing);
  recordHubModel(base, { repo: 'other/Small-1B', revision: 'main' });
  expect(errorOf(() => parts({ resources: join(root, 'r'), models }))).toMatchObject(missing);
  recordHubModel(base, { repo: 'Someone/small-1b', revision: 'main' });
  expect(parts({ resources: join(root, 'r'), models }).base).toBe(base);
});

it("prefers bundled and downloaded models, then the adapter's neighbours, to folders of the current directory", () => {
  const root = temporaryFolder();
  const [models, resources, adapter, here] = ['models', 'resources', 'adapters/one', 'here'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  const model = (...path: string[]): string => {
    const folder = join(...(path as [string]));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{}');
    return folder;
  };
  mkdirSync(adapter, { recursive: true });
  const baseOf = (name: string): string => {
    writeFileSync(join(adapter, 'adapter_config.json'), JSON.stringify({ base_model_name_or_path: name }));
    return resolveModelParts(adapter, { resources, models }).base;
  };
  for (const name of ['small', 'someone/Small-1B', 'mine', 'only']) model(here, name);
  const bundled = model(resources, 'models', 'small');
  const downloaded = model(models, 'Small-1B');
  recordHubModel(downloaded, { repo: 'someone/Small-1B', revision: 'main' });
  const [beside] = [model(adapter, 'mine'), model(adapter, 'small'), model(adapter, 'someone/Small-1B')];
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(here);
  onTestFinished(() => cwd.mockRestore());
  expect(baseOf('small')).toBe(bundled);
  expect(baseOf('someone/Small-1B')).toBe(downloaded);
  expect(baseOf('mine')).toBe(beside);
  expect(baseOf('only')).toBe(join(here, 'only'));
  expect(baseOf(join(here, 'small'))).toBe(join(here, 'small'));
  expect(errorOf(() => baseOf(join(root, 'small')))).toMatchObject({ code: 'BASE_MISSING' });
});

it("finds the base of a workspace's own checkpoint where both were moved, and no other's by its name", () => {
  const root = temporaryFolder();
  const base = join(root, 'models', 'mine');
  const own = join(root, 'outputs', 'run-0001', 'checkpoint-2');
  const others = join(root, 'adapters', 'one');
  for (const folder of [base, own, others]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(base, 'config.json'), '{}');
  const before = { base_model_name_or_path: join(root, 'gone', 'models', 'mine') };
  for (const folder of [own, others]) writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify(before));
  const paths = { resources: join(root, 'r'), models: join(root, 'models') };
  expect(resolveModelParts(own, paths).base).toBe(base);
  expect(errorOf(() => resolveModelParts(others, paths))).toMatchObject({ code: 'BASE_MISSING' });
});
