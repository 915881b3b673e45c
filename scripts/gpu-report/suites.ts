/** The test suites of a checkout, run on the machine's own GPU, and what came of each. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { SuiteOutcome } from '../../main/services/doctor/gpu-report.ts';

const root = resolve(import.meta.dirname, '../..');

/** The suites that compare with stored references of transformers, TRL and torch, and the ops with their gradients. */
export const SUITES: readonly (readonly string[])[] = [
  // Of the suites on every backend, those on this one.
  ['tests/tensor/ops', 'tests/parity', '-t', 'webgpu'],
  ['tests/tensor/webgpu', 'tests/trainer/run/webgpu-run.test.ts', 'tests/trainer/run/webgpu-faults.test.ts'],
];

/** A GPU takes a minute or two over a suite; one that hangs must not hold up the report. */
const MOST_MS = 10 * 60_000;

export interface SuiteRunner {
  /** The test runner's program. It is run by this Node: the link in node_modules/.bin can't be run on Windows. */
  readonly entry: string;
  readonly mostMs: number;
}

const VITEST: SuiteRunner = { entry: join(root, 'node_modules/vitest/vitest.mjs'), mostMs: MOST_MS };

/** Runs one suite; a suite that couldn't run is said to be one, as is one in which every test was skipped. */
export function runSuite(suite: readonly string[], { entry, mostMs }: SuiteRunner = VITEST): SuiteOutcome {
  const { stdout, stderr, status, signal, error } = spawnSync(
    process.execPath,
    [entry, 'run', ...suite, '--reporter=default'],
    {
      cwd: root,
      env: { ...process.env, BRAID_TEST_GPU: 'real' },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      // One that hangs in a driver doesn't hear a polite signal.
      timeout: mostMs,
      killSignal: 'SIGKILL',
    },
  );
  const name = suite.join(' ');
  const lines = saidOf(stdout ?? '');
  if (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT')
    return { name, state: 'not run', lines: [`Ended after ${Math.round(mostMs / 1000)} s.`, ...lines] };
  if (status === null)
    return { name, state: 'not run', lines: [`It could not be run: ${error?.message ?? `ended by ${signal}`}`] };
  if (status === 0 && lines.some((line) => /^Tests .*\d passed/.test(line))) return { name, state: 'passed', lines };
  if (status === 0) return { name, state: 'not run', lines: ['No test ran.', ...lines] };
  if (lines.length > 0) return { name, state: 'failed', lines };
  const said = plain(stderr ?? '');
  const why = said.find((line) => /error|no test/i.test(line)) ?? said.at(-1) ?? '';
  return { name, state: 'not run', lines: [`The test runner ended with code ${status}. ${why}`.trim()] };
}

const saidOf = (stdout: string): string[] => plain(stdout).filter((line) => /^(Test Files|Tests|FAIL)/.test(line));

/** The lines that say something, without colours. */
function plain(text: string): string[] {
  return (
    text
      .split('\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: vitest colours its words with them
      .map((line) => line.replace(/\u001b\[[0-9;]*m/g, '').trim())
      .filter((line) => line !== '')
  );
}
