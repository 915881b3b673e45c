import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packedFiles, resourcesOf } from '../../scripts/check-package.ts';
import { judge } from '../../scripts/package-contents.ts';
import { startDesktop } from '../desktop/desktop.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { chooseTestGpu } from '../software-gpu.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { fusesOf, openArchive, packApp } from './packed-app.ts';

let hasDriver = true;
try {
  chooseTestGpu();
} catch {
  hasDriver = false;
}

/** The substitute distribution is Linux's. */
describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the packed app', () => {
  const folder = temporaryFolderOfFile();
  let packed = '';
  beforeAll(async () => {
    packed = await packApp(folder);
  }, 120_000);

  it('holds exactly what is needed', () => {
    const files = packedFiles(packed);
    expect(judge(files)).toEqual({ surplus: [], missing: [] });
    // A list that lets everything pass would notice none of these.
    const stray = [
      'app.asar/main/index.ts',
      'app.asar/node_modules/ws/index.js',
      'app.asar/out/renderer/assets/index.js.map',
      'app.asar.unpacked/node_modules/@tensorflow/tfjs-core/dist/tf-core.js',
      'app.asar.unpacked/node_modules/@tensorflow/tfjs-core/dist/ops/add_test.js',
      'resources/models/tiny/optimizer.safetensors',
      'braid.db',
    ];
    expect(judge([...files, ...stray]).surplus).toEqual(stray);
    const without = (part: string) => judge(files.filter((file) => !file.includes(part))).missing;
    expect(without('app.asar.unpacked/out/kernels/')).toEqual(['the kernels: expected at least 2, got 1']);
    expect(without('presets/')).toEqual(['presets: expected at least 1, got 0']);
    // In the archive's list and beside it: better-sqlite3's, and Dawn's for this system alone.
    expect(files.filter((file) => file.endsWith('.node'))).toHaveLength(4);
    expect(files.filter((file) => /webgpu\/dist\//.test(file) && !file.includes('/linux-x64/'))).toEqual([]);
    expect(files.filter((file) => file.startsWith('node/'))).toEqual(['node/LICENSE', 'node/bin/node']);
    expect(readdirSync(join(packed, 'locales'))).toEqual(['en-US.pak']);
  });

  it('holds a licence for each package that is not bundled', () => {
    const files = packedFiles(packed);
    const notes = readFileSync(join(resourcesOf(packed), 'resources/licenses/README.md'), 'utf8');
    const packages = new Set(
      files.flatMap((file) => /^app\.asar\/node_modules\/((?:@[\w-]+\/)?[\w-]+)\//.exec(file)?.[1] ?? []),
    );
    expect(packages).toContain('seedrandom');
    const without = [...packages].filter(
      (name) => !files.includes(`app.asar/node_modules/${name}/LICENSE`) && !notes.includes(`\`${name}\``),
    );
    expect(without).toEqual([]);
    for (const [, named = ''] of notes.matchAll(/\]\(([\w.-]+\.txt)\)/g))
      expect(files).toContain(`resources/licenses/${named}`);
  });

  it('has the fuses that keep it to itself', () => {
    // In Electron's order: run as Node, encrypt cookies, NODE_OPTIONS, --inspect, check the archive, only the archive,
    // the browser's own snapshot, file:// privileges, and one that isn't ours to set.
    expect(fusesOf(readFileSync(join(packed, 'braid')))).toMatch(/^010011.0.$/);
  });

  it('starts, finds its model and texts, and trains', async () => {
    const resources = openArchive(resourcesOf(packed), temporaryFolder());
    const world = await tinyWorkspace();
    const entry = join(resources, 'app.asar/out/main/index.js');
    const desktop = startDesktop({ entry, packed: resources, workspace: world.root });
    await desktop.asked('window.show');
    expect(await desktop.order({ kind: 'fetch', url: 'app://braid/index.html', method: 'GET' })).toMatchObject({
      status: 200,
    });
    const client = (await desktop.page())?.client;
    const config = {
      backend: 'wasm' as const,
      max_steps: 2,
      per_device_train_batch_size: 8,
      num_generations: 4,
      threads: 2,
    };
    const started = await client?.runs.start({ config: { ...config, model: world.model, dataset: world.dataset } });
    const runId = started?.runId ?? 0;
    await until(async () => (await client?.app.status())?.live.length === 0);
    expect(await client?.runs.get({ runId })).toMatchObject({ state: 'done', step: 2 });
    expect(desktop.of('utilityProcess.fork')[0]?.[0]).toBe(join(resources, 'app.asar.unpacked/out/main/trainer.js'));
    expect((await client?.texts.importBundled())?.added).toBeGreaterThan(0);
    const checks = (await client?.app.doctor()) ?? [];
    for (const name of ['Tensor kernels', 'Embedded backend', 'Bundled model', 'Source texts'])
      expect(checks.find((check) => check.name === name)).toMatchObject({ name, status: 'OK' });
    // Only plain Node loads Dawn: the package's own has looked for a GPU.
    const gpu = checks.find(({ name }) => name === 'GPU by WebGPU')?.detail ?? '';
    expect(gpu).toMatch(hasDriver ? /SwiftShader/ : /No GPU was found/);
    expect(desktop.of('utilityProcess.fork')).toHaveLength(2);
  });
});
