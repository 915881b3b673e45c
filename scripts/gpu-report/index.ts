/**
 * One command for a machine with a GPU: the report that Doctor makes, too, and the test suites of a checkout on the GPU.
 *
 * npm run gpu-report [-- --output FILE] [--shapes tiny,135 M] [--precisions stored,int8,nf4] [--no-tests]; needs no
 * network, some ten minutes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { BraidError } from '../../main/errors.ts';
import { examineGpu, gpuReport } from '../../main/services/doctor/gpu-report.ts';
import { isQuantised } from '../../main/tensor/quantised.ts';
import type { WeightPrecision } from '../../main/tensor/weights.ts';

const root = resolve(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    output: { type: 'string', default: join(root, 'out/gpu-report.md') },
    shapes: { type: 'string' },
    precisions: { type: 'string', default: 'stored,nf4' },
    'no-tests': { type: 'boolean', default: false },
  },
});

/** The suites that compare with stored references of transformers, TRL and torch, and the ops with their gradients. */
const SUITES = [
  // Of the suites on every backend, those on this one.
  ['tests/tensor/ops', 'tests/parity', '-t', 'webgpu'],
  ['tests/tensor/webgpu', 'tests/trainer/webgpu-run.test.ts', 'tests/trainer/webgpu-faults.test.ts'],
];

/** Runs the suites on the machine's own GPU; the last lines say how many passed. */
function testLines(): string[] {
  const environment = { ...process.env, BRAID_TEST_GPU: 'real' };
  const vitest = join(root, 'node_modules/.bin/vitest');
  return SUITES.flatMap((suites) => {
    const { stdout, status } = spawnSync(vitest, ['run', ...suites, '--reporter=default'], {
      ...{ cwd: root, env: environment, encoding: 'utf8', maxBuffer: 2 ** 28 },
    });
    return [`${suites.join(' ')}: exit code ${status}.`, ...saidOf(stdout ?? '')];
  });
}

function saidOf(stdout: string): string[] {
  return (
    stdout
      .split('\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: vitest colours its words with them
      .map((line) => line.replace(/\u001b\[[0-9;]*m/g, '').trim())
      .filter((line) => /^(Test Files|Tests|FAIL)/.test(line))
  );
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const precisions = options.precisions.split(',').map((name): WeightPrecision => {
  if (name === 'stored' || isQuantised(name)) return name;
  throw new Error(`Expected --precisions of stored, int8 and nf4, got ${name}`);
});
// First what needs a GPU: a machine without one says so at once, not after the suites.
const result = await examineGpu(
  checkoutPaths(root),
  { shapes: options.shapes?.split(',') ?? null, precisions },
  { onProgress: ({ done, total }) => say(`${done} of ${total} parts`) },
).catch((error: unknown) => {
  if (!(error instanceof BraidError)) throw error;
  say(`${error.message}\n${error.remedy ?? ''}`);
  process.exit(1);
});
const suites = options['no-tests'] ? ['Not run (--no-tests).'] : testLines();
mkdirSync(dirname(options.output), { recursive: true });
writeFileSync(options.output, gpuReport(result, suites));
say(`Written to ${options.output}`);
