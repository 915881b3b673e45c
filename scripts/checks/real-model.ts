/**
 * A model of a published shape through everything that the command line does with one, each job's peak memory and time
 * beside what was promised: `node scripts/checks/real-model.ts SHAPE [--backend B] [--words N] [--generations G]
 * [--activations MiB] [--held-out N] [--set KEY=VALUE …] [--folder DIR] [--cpu-clock] [--training]`. SHAPE: one of random-folder.ts.
 * Linux only: it reads /proc. Prints a Markdown table. `--held-out`: prompts of evaluation and comparison, 16 unless
 * said. `--set`: more settings of the runs. `--cpu-clock`: seconds a step, promised and measured, are of CPU time by
 * thread. `--training`: the first job alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tableLines } from '../../main/commands/table.ts';
import { openStore } from '../../main/store/index.ts';
import { FOLDER_SHAPES, type FolderShape, writeRandomFolder, writeRandomTask } from './random-folder.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'auto' },
    words: { type: 'string', default: '15' },
    generations: { type: 'string', default: '16' },
    activations: { type: 'string' },
    'held-out': { type: 'string', default: '16' },
    set: { type: 'string', multiple: true, default: [] },
    folder: { type: 'string' },
    'cpu-clock': { type: 'boolean', default: false },
    training: { type: 'boolean', default: false },
  },
});
const shape = positionals[0] as FolderShape;
if (!(shape in FOLDER_SHAPES)) throw new Error(`Expected a shape of ${Object.keys(FOLDER_SHAPES).join(', ')}`);
const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'braid-real-'));
const [model, workspace] = [join(folder, 'model'), join(folder, 'workspace')];
const root = join(import.meta.dirname, '../..');
if (!existsSync(join(model, 'model.safetensors'))) writeRandomFolder(model, shape);
const { dataset } = writeRandomTask(folder, Number(options.words), 64, Number(options['held-out']));

interface Job {
  readonly name: string;
  readonly code: number | null;
  readonly seconds: number;
  readonly peakMb: number;
  readonly stdout: string;
  readonly stderr: string;
}

const rows: (string | number)[][] = [];
const stage = [
  ...['--dataset', dataset, '--task', join(folder, 'task')],
  ...['--set', `num_generations=${options.generations}`, `per_device_train_batch_size=${options.generations}`],
  ...['save_steps=1', 'sample_steps=1', 'beta=0.01', ...activations(), ...options.set],
];
const first = await job('two steps of GRPO', ['train', '--model', model, '--steps', '2', ...stage]);
report(first, planned(1));
if (options.training) process.exit(first.code ?? 1);
const checkpoint = checkpointOf(1, 2);
report(
  await job('stopped after a step', ['train', '--model', model, '--steps', '3', ...stage], () =>
    existsSync(checkpointOf(2, 1)),
  ),
);
report(await job('resumed', ['train', '--resume']), planned(2));
report(await job('next stage', ['train', '--from', checkpoint, '--steps', '1', ...stage]), planned(3));
const given = ['--dataset', dataset.replace('.jsonl', '.test.jsonl'), '--task', join(folder, 'task')];
report(await job(`evaluation, ${options['held-out']} prompts`, ['evaluate', '--model', checkpoint, ...given]));
const compared = ['--baseline', model, '--trained', checkpoint, '--samples', '2', '--k', '1'];
report(await job('comparison', ['compare', ...compared, ...given, '--output', join(folder, 'report')]));
report(
  await job('export', ['merge', '--model', checkpoint, '--output', join(folder, 'merged'), '--dtype', 'bfloat16']),
);
const texts = ['w11 w12 w13 w14 w15', 'w21 w22 w23 w24 w25'];
report(await run('playground, two checkpoints', 'scripts/checks/playground.ts', [workspace, ...texts]));
const head = ['job', 'exit', 'seconds', 'peak MiB', 'promised MiB', 'peak / promised', 's a step', 'promised'];
for (const line of tableLines(head, rows)) console.log(line);

function activations(): string[] {
  return options.activations === undefined ? [] : [`activation_memory_mb=${options.activations}`];
}

/** Runs a command of Braid. A resumed run keeps its configuration. */
function job(name: string, args: readonly string[], until?: () => boolean): Promise<Job> {
  const own = ['--workspace', workspace, ...(args.includes('--resume') ? [] : ['--backend', options.backend])];
  return run(name, 'main/braid.ts', [...args, ...own], until);
}

/** Runs a file; `until`: ends it by Ctrl-C once this is so. */
async function run(name: string, file: string, args: readonly string[], until?: () => boolean): Promise<Job> {
  const began = performance.now();
  const clock = options['cpu-clock'] ? [`--import=${join(import.meta.dirname, 'cpu-clock.ts')}`] : [];
  const env = { ...process.env, NODE_OPTIONS: [process.env.NODE_OPTIONS ?? '', ...clock].join(' ') };
  const child = spawn(process.execPath, [join(root, file), ...args], { stdio: 'pipe', env });
  let [stdout, stderr, peakMb, stopped] = ['', '', 0, false];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(child));
    if (stopped || until?.() !== true) return;
    stopped = true;
    child.kill('SIGINT');
  }, 100);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(timer);
  return { name, code, seconds: (performance.now() - began) / 1000, peakMb, stdout, stderr };
}

/** MiB of the largest process that the command has started: the trainer. */
function residentMb({ pid }: ChildProcess): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? field(Number(name), 'PPid') : null;
    if (parent !== null) parents.set(Number(name), parent);
  }
  const isOurs = (id: number): boolean => id === pid || (parents.has(id) && isOurs(parents.get(id) as number));
  const sizes = [...parents.keys()]
    .filter((id) => id !== pid && isOurs(id))
    .map((id) => (field(id, 'VmHWM') ?? 0) / 1024);
  return Math.max(0, ...sizes);
}

function field(pid: number, name: string): number | null {
  try {
    const found = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? null : Number(found[1]);
  } catch {
    // It ended meanwhile.
    return null;
  }
}

interface Plan {
  readonly memoryMb: number;
  readonly secondsPerStep: number;
  readonly measured: number;
}

/** What the run said before its first step, and what a step took. */
function planned(runId: number): Plan | null {
  const store = openStore(join(workspace, 'braid.db'));
  try {
    const estimate = store.events.ofRun(runId).findLast(({ kind }) => kind === 'estimate');
    const data = estimate?.data as { memoryBytes: number; secondsPerStep: number } | undefined;
    const steps = store.metrics.series(runId, 'step_time').map(({ value }) => value);
    if (data === undefined || steps.length === 0) return null;
    const measured = steps.reduce((a, b) => a + b, 0) / steps.length;
    return { memoryMb: data.memoryBytes / 2 ** 20, secondsPerStep: data.secondsPerStep, measured };
  } finally {
    store.close();
  }
}

function checkpointOf(runId: number, step: number): string {
  const outputs = join(workspace, 'outputs');
  const name = readdirSync(outputs).find((one) => one.startsWith(`run-${String(runId).padStart(4, '0')}`));
  return join(outputs, name ?? 'no such run', `checkpoint-${step}`);
}

function report({ name, code, seconds, peakMb, stderr }: Job, plan: Plan | null = null): void {
  const near = (a: number, b: number): string => (a / b).toFixed(2);
  rows.push([
    ...[name, String(code), seconds.toFixed(0), peakMb.toFixed(0)],
    ...(plan === null
      ? ['', '', '', '']
      : [
          plan.memoryMb.toFixed(0),
          near(peakMb, plan.memoryMb),
          plan.measured.toFixed(1),
          plan.secondsPerStep.toFixed(1),
        ]),
  ]);
  process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
  if (code !== 0 && code !== 130) process.stderr.write(`${stderr.slice(-2000)}\n`);
}
