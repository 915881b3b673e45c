/** The report on a GPU: made by a trainer process, written as Markdown, kept in the workspace. */
import { existsSync, statSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { readRegular } from '../../io/read-file.ts';
import type { GpuReportJob, GpuReportResult } from '../../trainer/jobs/gpu-report/job.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import type { HostPaths } from '../workspace/paths.ts';

type Paths = Pick<HostPaths, 'kernels' | 'trainer'>;

export type ReportChoice = Partial<Pick<GpuReportJob, 'shapes' | 'precisions'>>;

/** A large model is silent while its weights are made. */
const SILENCE_MS = 30 * 60_000;

/** Tests and times the GPU; some minutes. Throws NO_GPU or NO_WEBGPU with what to do. */
export async function examineGpu(
  paths: Paths,
  { shapes = null, precisions = ['stored', 'nf4'] }: ReportChoice = {},
  options: JobOptions = {},
): Promise<GpuReportResult> {
  const job: GpuReportJob = {
    kind: 'gpu-report',
    backend: 'webgpu',
    threads: 1,
    kernelsFile: paths.kernels,
    shapes,
    precisions,
  };
  return (await runTrainerJob(job, paths.trainer, { ...options, silenceMs: SILENCE_MS })).value;
}

const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(2);
const percent = (share: number): string => `${(100 * share).toFixed(0)}%`;

/** What came of a test suite. */
export interface SuiteOutcome {
  readonly name: string;
  /** "not run": it could not be started, took too long, or all its tests were skipped. */
  readonly state: 'passed' | 'failed' | 'not run';
  /** What the test runner said. */
  readonly lines: readonly string[];
}

/** The report as Markdown; `suites`: the results of the test suites, where they are there to run and were asked for. */
export function gpuReport(result: GpuReportResult, suites: readonly SuiteOutcome[] = [], date = new Date()): string {
  const { name, adapter, memory, load, peaks } = result;
  const software = adapter.software ? ' (a software adapter: its speed says nothing about a GPU)' : '';
  const features = adapter.features.filter((feature) => /f16|subgroup|timestamp/.test(feature));
  const limits = Object.entries(adapter.limits).map(([limit, value]) => `${limit} ${value}`);
  return `# GPU report

${date.toISOString().slice(0, 10)}, ${name}${software}, Node ${process.versions.node}, ${process.platform}-${process.arch} ${release()}, ${cpus()[0]?.model.trim() ?? 'unknown processor'}.

- A plain product of ${load.edge}³ in float32: ${peaks.gflops.toFixed(peaks.gflops < 10 ? 2 : 0)} GFLOPS.
- Reading memory: ${peaks.bandwidth.toFixed(peaks.bandwidth < 10 ? 2 : 0)} GB/s.
- Memory: ${memory === null ? 'that of the processor' : `${gib(memory.bytes)} GiB (${memory.source})`}.
- Features: ${features.join(', ') || 'none that matter here'}.
- Matrix units: ${result.units}.
- Limits: ${limits.join(', ')}.

## Is it right?

${verdict(result, suites)} A small model with an adapter, against the same on this machine's processor:

| | largest difference | bound | |
|---|---|---|---|
${result.agreements.map(({ what, difference, bound }) => `| ${what} | ${difference === 0 ? 0 : difference.toExponential(1)} | ${bound} | ${difference <= bound ? 'ok' : '**differs**'} |`).join('\n')}
${suiteText(suites)}
## How fast is it?

Random weights, those of linear layers as the table says and the rest in bfloat16, LoRA r 16 on all linear layers, one prompt of ${load.promptTokens} tokens with ${load.rows} completions. Decoding: new tokens a second over all rows, and the share of the memory's speed that reading the weights once a step makes. Training: tokens a second forward and backward, layers computed twice, and the share of the plain product's speed. *In bfloat16*: with compute_dtype bfloat16. A whole GRPO step: ${load.rows} completions of ${load.decoded} tokens sampled, their loss differentiated and the adapter stepped by the trainer's own functions.

| shape | weights | decoded tokens/s | of bandwidth | trained tokens/s | of peak | GRPO step, s | dispatches a token | peak GiB |
|---|---|---|---|---|---|---|---|---|
${result.timings.map(row).join('\n')}
`;
}

/** Whether all that was compared agrees, and every suite that was asked for ran and passed. */
export function reportIsGood(result: GpuReportResult, suites: readonly SuiteOutcome[] = []): boolean {
  return differing(result).length === 0 && suites.every(({ state }) => state === 'passed');
}

const differing = ({ agreements }: GpuReportResult): GpuReportResult['agreements'] =>
  agreements.filter(({ difference, bound }) => !(difference <= bound));

function verdict(result: GpuReportResult, suites: readonly SuiteOutcome[]): string {
  const wrong = differing(result);
  const count = (state: SuiteOutcome['state']): number => suites.filter((suite) => suite.state === state).length;
  const faults = [
    ...(wrong.length === 0 ? [] : [`${wrong.length} of ${result.agreements.length} quantities differ`]),
    ...(count('failed') === 0 ? [] : [`${count('failed')} of ${suites.length} test suites failed`]),
  ];
  const unknown =
    count('not run') === 0 ? [] : [`${count('not run')} of ${suites.length} test suites could not be run`];
  if (faults.length > 0) return `**No: ${[...faults, ...unknown].join(', ')}.**`;
  if (unknown.length > 0) return `**Not known: ${unknown.join()}.** What was compared agrees.`;
  return suites.length === 0 ? 'Yes, by this comparison alone: no test suite was run.' : 'Yes.';
}

function suiteText(suites: readonly SuiteOutcome[]): string {
  if (suites.length === 0) return '';
  const lines = suites.flatMap(({ name, state, lines }) => [`${name}: ${state}.`, ...lines]);
  return `\nThe test suites, which compare with transformers, TRL and torch:\n\n${lines.map((line) => `    ${line}`).join('\n')}\n`;
}

function row(timing: GpuReportResult['timings'][number]): string {
  const format = timing.precision === 'stored' ? 'bfloat16' : timing.precision;
  const weights = timing.computed === 'float32' ? format : `${format}, in bfloat16`;
  if ('fault' in timing) return `| ${timing.shape} | ${weights} | ${timing.fault} | | | | | | |`;
  const { shape, decoded, bandwidthShare, trained, peakShare, stepSeconds, dispatchesPerToken, peakBytes } = timing;
  const speeds = [decoded.toFixed(1), percent(bandwidthShare), trained.toFixed(1), percent(peakShare)];
  const step = stepSeconds.toPrecision(3);
  return `| ${[shape, weights, ...speeds, step, dispatchesPerToken, gib(peakBytes)].join(' | ')} |`;
}

/** The newest report of a workspace. */
export interface KeptGpuReport {
  readonly path: string;
  readonly at: number;
  readonly text: string;
}

const KIND = 'gpu-report';

const fileOf = (root: string): string => join(root, 'gpu-report.md');

/** Null: none was made here. */
export function newestGpuReport({ workspace }: Pick<OpenWorkspace, 'workspace'>): KeptGpuReport | null {
  const path = fileOf(workspace.root);
  return existsSync(path) ? { path, at: statSync(path).mtimeMs, text: readRegular(path).toString('utf8') } : null;
}

/** Makes one as a job; the earlier one stays until it is there. Returns the job's id. */
export function startGpuReport(
  { jobs, changes, paths, workspace }: Pick<OpenWorkspace, 'jobs' | 'changes' | 'paths' | 'workspace'>,
  examine: typeof examineGpu = examineGpu,
): number {
  if (jobs.list().some(({ kind, state }) => kind === KIND && state === 'running'))
    throw inputError('REPORT_BUSY', 'A GPU report is already being made', 'Wait for it to finish, or cancel it.');
  const { id, result } = jobs.start(KIND, 'GPU report', async ({ signal, progress }) => {
    const found = await examine(paths, {}, { signal, onProgress: progress });
    writeFileAtomic(fileOf(workspace.root), gpuReport(found), { what: 'the GPU report' });
  });
  const told = (): void => changes.publish('native');
  // The list of jobs shows a failure.
  result.then(told, told);
  return id;
}
