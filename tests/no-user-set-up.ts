/**
 * Hides the user's own set-up from the tests and every process that they start: an installed native backend would
 * change what `auto` uses, and a workspace would be written to. BRAID_TEST_NATIVE says that the suites for
 * the native backend run too (tests/native-under-test.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentLayout, nativeFolder, readManifest } from '../main/native/folder.ts';

const PREFIX = join(tmpdir(), 'braid-no-user-');
let empty: string | null = null;

/** Runs before any test process starts: they inherit this environment. Once for every project of the configuration. */
export function setup(): void {
  const { env } = process;
  if (env.BRAID_NATIVE?.startsWith(PREFIX)) return;
  const wanted = env.BRAID_TEST_NATIVE?.trim() ?? '';
  // Where the suites for it find the user's set-up; a folder may be named instead.
  if (wanted === '1') env.BRAID_TEST_NATIVE = nativeFolder();
  if (wanted !== '' && readManifest(currentLayout(env.BRAID_TEST_NATIVE)) === null)
    throw new Error(`Expected a native backend in ${env.BRAID_TEST_NATIVE}, there is none: npm run setup:native`);
  empty = mkdtempSync(PREFIX);
  env.BRAID_NATIVE = join(empty, 'native');
  env.BRAID_WORKSPACE = '';
  // Where the other folders of the user's data are on Linux.
  env.XDG_DATA_HOME = empty;
  env.XDG_CONFIG_HOME = empty;
  // Nor is the developer logged in to Hugging Face.
  env.HF_HOME = empty;
  env.HF_TOKEN = '';
  if (wanted === '') console.warn('native is skipped: BRAID_TEST_NATIVE=1 tests the native backend that is set up');
}

export function teardown(): void {
  if (empty !== null) rmSync(empty, { recursive: true, force: true });
}
