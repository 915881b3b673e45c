/** Regenerates the screenshots in docs/screens by running the browser tests that take them. `node scripts/screenshots.ts` */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs', 'screens');
mkdirSync(folder, { recursive: true });
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const tests = ['story', 'replies', 'experiments', 'tasks', 'pictures'].map((name) => `tests/e2e/${name}.test.ts`);
const { status } = spawnSync(process.execPath, [vitest, 'run', ...tests], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, BRAID_SCREENSHOTS: folder },
});
process.exitCode = status ?? 1;
