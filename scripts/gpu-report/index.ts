/**
 * One command for a machine with a GPU: the report that Doctor makes, too, and the test suites of a checkout on the GPU.
 *
 * npm run gpu-report [-- --output FILE] [--shapes tiny,135 M] [--precisions stored,int8,nf4] [--no-tests] [--trl PYTHON];
 * needs no network, some ten minutes. --trl times `braid bench` and TRL, if torch of that Python has CUDA. Ends with code 1 where a quantity differs, a suite fails or one can't run.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { BraidError } from '../../main/errors.ts';
import { examineGpu, gpuReport, reportIsGood } from '../../main/services/doctor/gpu-report.ts';
import { isQuantised } from '../../main/tensor/quantised.ts';
import type { WeightPrecision } from '../../main/tensor/weights.ts';
import { besideTrl } from './beside-trl.ts';
import { runSuite, SUITES } from './suites.ts';

const root = resolve(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    output: { type: 'string', default: join(root, 'out/gpu-report.md') },
    shapes: { type: 'string' },
    precisions: { type: 'string', default: 'stored,nf4' },
    'no-tests': { type: 'boolean', default: false },
    trl: { type: 'string' },
  },
});

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
const suites = options['no-tests'] ? [] : SUITES.map((suite) => runSuite(suite));
mkdirSync(dirname(options.output), { recursive: true });
const peer = options.trl === undefined ? [] : besideTrl(options.trl);
const beside = peer.length === 0 ? '' : `\n## Beside TRL\n\n${peer.map((line) => `    ${line}`).join('\n')}\n`;
writeFileSync(options.output, gpuReport(result, suites) + beside);
say(`Written to ${options.output}`);
// A script that asks for the report can tell whether the GPU is right.
if (!reportIsGood(result, suites)) process.exitCode = 1;
