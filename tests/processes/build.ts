/**
 * Bundles what tests start as processes of their own, as the app's build does: from sources each would read 800 files,
 * which is most of what a test of a small model waits for. Does nothing where the bundle is newer than its sources.
 */
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';
import { bundle, root } from './paths.ts';

/** The checkout's entries, by the names that the app's build gives them. */
const input = {
  braid: 'main/braid.ts',
  trainer: 'main/trainer/process/entry.ts',
  rewards: 'main/tasks/sandbox/worker.ts',
  'external-rewards': 'main/rewards/worker.ts',
  'reward-process': 'main/trainer/process/reward-process.ts',
  texts: 'main/services/text-worker/worker.ts',
  webgpu: 'main/tensor/webgpu/thread.ts',
};

/** The command starts the bundle's processes too. */
const bundledPaths: Plugin = {
  name: 'bundled-paths',
  enforce: 'pre',
  resolveId: (name, importer) =>
    importer === join(root, 'main/cli.ts') && name === './commands/host-paths.ts'
      ? join(import.meta.dirname, 'host-paths.ts')
      : null,
};

/** What vitest calls before its tests, once for each project of the configuration. */
export async function setup(): Promise<void> {
  const began = new Date();
  if (isFresh()) return;
  const parent = join(bundle, '..');
  mkdirSync(parent, { recursive: true });
  // Built under another name, then renamed: a process that starts meanwhile never reads half a bundle.
  const fresh = mkdtempSync(join(parent, 'processes-'));
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [bundledPaths],
    ssr: { noExternal: true, external: [] },
    build: {
      ssr: true,
      outDir: fresh,
      emptyOutDir: true,
      minify: false,
      rollupOptions: {
        input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(root, file)])),
        // Beside the entries, where code looks for files by its own location.
        output: { chunkFileNames: '[name]-[hash].js' },
        external: ['better-sqlite3', 'webgpu', /^@tensorflow\//, /^@resvg\//],
      },
    },
  });
  utimesSync(join(fresh, 'braid.js'), began, began);
  rmSync(bundle, { recursive: true, force: true });
  renameSync(fresh, bundle);
}

/** A file that changes while it is bundled is newer than the beginning. */
function isFresh(): boolean {
  const made = join(bundle, 'braid.js');
  if (!existsSync(made)) return false;
  const { mtimeMs } = statSync(made);
  const files = globSync(['main/**/*.ts', 'tests/processes/*.ts', 'package.json', 'package-lock.json'], { cwd: root });
  return files.every((file) => statSync(join(root, file)).mtimeMs < mtimeMs);
}
