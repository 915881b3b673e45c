/**
 * One command for a machine with a GPU: is what it computes right, and how fast is it? Writes a Markdown report.
 *
 * npm run gpu-report [-- --output FILE] [--shapes tiny,135 M] [--no-tests]; needs no network, some ten minutes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import '../../main/tensor/gradients.ts';
import { adapterName, gpuOptions } from '../../main/tensor/webgpu/describe.ts';
import { closeWebGpuBackend, openWebGpuBackend } from '../../main/tensor/webgpu/open.ts';
import { GPU_LOAD, measurePeaks, SOFTWARE_LOAD, type Timing, timeShape } from './measure.ts';
import { SHAPES } from './shapes.ts';

const root = resolve(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    output: { type: 'string', default: join(root, 'out/gpu-report.md') },
    shapes: { type: 'string' },
    'no-tests': { type: 'boolean', default: false },
  },
});

/** The suites that compare with stored references of transformers, TRL and torch, and the ops with their gradients. */
const SUITES = ['tests/tensor/ops', 'tests/tensor/webgpu', 'tests/parity', 'tests/trainer/webgpu-run.test.ts'];

/** Runs the suites on the machine's own GPU; the last lines say how many passed. */
function testLines(): string[] {
  const environment = { ...process.env, BRAID_TEST_GPU: 'real' };
  const vitest = join(root, 'node_modules/.bin/vitest');
  const { stdout, status } = spawnSync(vitest, ['run', ...SUITES, '-t', 'webgpu', '--reporter=default'], {
    ...{ cwd: root, env: environment, encoding: 'utf8', maxBuffer: 2 ** 28 },
  });
  const told = (stdout ?? '')
    .split('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: vitest colours its words with them
    .map((line) => line.replace(/\u001b\[[0-9;]*m/g, '').trim())
    .filter((line) => /^(Test Files|Tests|FAIL)/.test(line));
  return [`Exit code ${status}.`, ...told];
}

const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(2);
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

function row(timing: Timing): string {
  const { shape, decoded, bandwidthShare, trained, peakShare, dispatchesPerToken, peakBytes } = timing;
  const cells = [shape, decoded.toFixed(1), percent(bandwidthShare), trained.toFixed(1), percent(peakShare)];
  return `| ${[...cells, dispatchesPerToken, gib(peakBytes)].join(' | ')} |`;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const tests = options['no-tests'] ? ['Not run (--no-tests).'] : testLines();
const backend = await openWebGpuBackend(gpuOptions());
const { adapter } = backend.gpu;
if (adapter.software) say(`${adapterName(adapter)} is a software adapter: its figures say nothing about a GPU.`);
const wanted = options.shapes?.split(',') ?? (adapter.software ? ['tiny'] : SHAPES.map(({ name }) => name));
const load = adapter.software ? SOFTWARE_LOAD : GPU_LOAD;
const peaks = measurePeaks(load);
const lines: string[] = [];
for (const shape of SHAPES.filter(({ name }) => wanted.includes(name))) {
  say(`${shape.name} …`);
  try {
    lines.push(row(timeShape(backend, shape, peaks, load)));
  } catch (error) {
    // The next shape may still fit, and a report that says what did not is what is wanted.
    lines.push(`| ${shape.name} | ${error instanceof Error ? error.message : error} | | | | | |`);
  }
}
await closeWebGpuBackend(backend);

const report = `# GPU report

${new Date().toISOString().slice(0, 10)}, ${adapterName(adapter)}${adapter.software ? ' (a software adapter: tests only)' : ''}, Node ${process.versions.node}, ${process.platform}-${process.arch}.

- A plain product of ${load.edge}³ in float32: ${peaks.gflops.toFixed(0)} GFLOPS.
- Reading memory: ${peaks.bandwidth.toFixed(0)} GB/s.
- Features: ${adapter.features.filter((feature) => /f16|subgroup|timestamp/.test(feature)).join(', ') || 'none that matter here'}.
- Limits: ${Object.entries(adapter.limits)
  .map(([name, value]) => `${name} ${value}`)
  .join(', ')}.

## Is it right?

${tests.map((line) => `    ${line}`).join('\n')}

## How fast is it?

Random bfloat16 weights, LoRA r 16 on all linear layers, one prompt of ${load.promptTokens} tokens with ${load.rows} completions. Decoding: new tokens a second over all rows, and the share of the memory's speed that reading the weights once a step makes. Training: tokens a second forward and backward, layers computed twice, and the share of the plain product's speed.

| shape | decoded tokens/s | of bandwidth | trained tokens/s | of peak | dispatches a token | peak GiB |
|---|---|---|---|---|---|---|
${lines.join('\n')}
`;
mkdirSync(dirname(options.output), { recursive: true });
writeFileSync(options.output, report);
say(`Written to ${options.output}`);
