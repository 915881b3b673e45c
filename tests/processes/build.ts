/**
 * Bundles what tests start as processes of their own, as the app's build does: from sources each would read 800 files,
 * which is most of what a test of a small model waits for. Vitest asks for it before its tests; a bundle is made once
 * for each state of the sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';
import { BUNDLE, root } from './paths.ts';

const cache = join(root, 'node_modules/.cache/braid-tests/processes');
const SOURCES = ['main/**/*.ts', 'tests/processes/*.ts', 'package.json', 'package-lock.json'];

/** Bundles of sources that have changed since, unless a test run may still use them. */
const KEPT_MS = 24 * 3600 * 1000;

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
    importer?.endsWith('/main/cli.ts') && name === './commands/host-paths.ts'
      ? join(import.meta.dirname, 'host-paths.ts')
      : null,
};

export async function setup(): Promise<void> {
  const folder = join(cache, stateOfSources());
  if (!existsSync(folder)) await bundleInto(folder);
  process.env[BUNDLE] = folder;
}

function stateOfSources(): string {
  const hash = createHash('sha256');
  for (const file of globSync(SOURCES, { cwd: root }).sort()) {
    const { mtimeMs, size } = statSync(join(root, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function bundleInto(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache))
    if (statSync(join(cache, name)).mtimeMs < Date.now() - KEPT_MS) rmSync(join(cache, name), { recursive: true });
  // Built under another name, then renamed: a process that starts meanwhile never reads half a bundle.
  const fresh = mkdtempSync(join(cache, 'new-'));
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [bundledPaths],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: fresh,
      minify: false,
      rollupOptions: {
        input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(root, file)])),
        // Beside the entries, where code looks for files by its own location.
        output: { chunkFileNames: '[name]-[hash].js' },
        external: ['better-sqlite3', 'webgpu', /^@tensorflow\//, /^@resvg\//],
      },
    },
  });
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
    rmSync(fresh, { recursive: true });
  }
}
