/**
 * Whole GRPO steps on wasm, on native and in TRL, in turn, over several rounds: the tables of docs/performance.md.
 * `node scripts/bench/against-trl.ts --trl PYTHON [--rounds 5] [--cases tiny-10,…] [--backends wasm,native]`; about
 * twenty minutes on two otherwise idle cores. PYTHON needs torch, transformers, trl, peft and datasets. `--model DIR`
 * times a model of your own with the sizes of the cases named. On a crowded machine `--cpu-clock` counts processor
 * seconds, of all threads together, in place of those on the wall; both are printed.
 *
 * A round runs every program once, so what slows the machine for a while slows all of them; a ratio is of one round.
 * The last line is JSON: {case: {program: {seconds: [per round], ratio: [per round]}}}.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchReport } from '../../main/services/training/bench.ts';
import { median } from '../../main/text/intervals.ts';

const root = resolve(import.meta.dirname, '../..');

interface Case {
  readonly title: string;
  readonly model: 'tiny' | 'smol135';
  readonly sizes: string;
  readonly steps: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'tiny-10': {
    title: 'tiny (0.66 M), full, 8 × 16, 10 words',
    model: 'tiny',
    sizes: '--prompts 8 --group 16 --words 10 --mode full --beta 0',
    steps: 12,
  },
  'tiny-50': {
    title: 'tiny, full, 8 × 16, 50 words',
    model: 'tiny',
    sizes: '--prompts 8 --group 16 --words 50 --mode full --beta 0',
    steps: 5,
  },
  'tiny-lora': {
    title: 'tiny, LoRA r 16 on all linear layers, KL 0.04, 8 × 16, 10 words',
    model: 'tiny',
    sizes: '--prompts 8 --group 16 --words 10 --mode lora --beta 0.04',
    steps: 12,
  },
  'smol135-lora': {
    title: '135 M Llama, LoRA r 16, 2 × 8, 10 words',
    model: 'smol135',
    sizes: '--prompts 2 --group 8 --words 10 --mode lora --beta 0',
    steps: 3,
  },
};

const { values } = parseArgs({
  options: {
    trl: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    cases: { type: 'string', default: Object.keys(CASES).join() },
    backends: { type: 'string', default: 'wasm,native' },
    model: { type: 'string' },
    'cpu-clock': { type: 'boolean', default: false },
  },
});
const backends = values.backends.split(',');
const programs = values.trl === undefined ? backends : [...backends, 'trl'];
const results: Record<string, Record<string, number[]>> = {};
for (const name of values.cases.split(',')) {
  const asked = CASES[name];
  if (asked === undefined) throw new Error(`Unknown case "${name}". Known: ${Object.keys(CASES).join(', ')}.`);
  results[name] = Object.fromEntries(programs.map((program) => [program, []]));
}

for (let round = 1; round <= Number(values.rounds); round += 1) {
  for (const [name, timed] of Object.entries(results)) {
    for (const program of programs) timed[program]?.push(time(program, CASES[name] as Case));
    const said = programs.map((program) => `${program} ${timed[program]?.at(-1)?.toFixed(3)} s`);
    console.error(`round ${round}, ${name}: ${said.join(', ')}`);
  }
}

console.log(`${cpus()[0]?.model.trim()}, ${values.rounds} rounds\n`);
console.log(table());
console.log(JSON.stringify(summary()));

/** One program's median seconds per step, by the clock asked for. */
function time(program: string, asked: Case): number {
  const { wall, cpu } = bothClocks(program, asked);
  console.error(`  ${program}: ${wall.toFixed(3)} s, processor ${cpu.toFixed(3)} s`);
  return values['cpu-clock'] ? cpu : wall;
}

function bothClocks(program: string, { model, sizes, steps }: Case): { wall: number; cpu: number } {
  const folder = modelFolder(model);
  if (program === 'trl') {
    // The peer counts its two untimed steps among the steps.
    const peer = [join(root, 'scripts/bench/trl_peer.py'), folder, ...sizes.split(' '), '--steps', String(steps + 2)];
    const found = /TRL median ([\d.]+) s.*CPU ([\d.]+) s/.exec(output(values.trl as string, peer));
    if (found === null) throw new Error('TRL ran, but named no median.');
    return { wall: Number(found[1]), cpu: Number(found[2]) };
  }
  const bench = ['bench', '--model', folder, ...sizes.split(' '), '--steps', String(steps), '--backend', program];
  const lines = output(process.execPath, [join(root, 'main/braid.ts'), ...bench, '--json'])
    .trim()
    .split('\n');
  const { median_s: wall, cpu_s: cpu } = JSON.parse(lines.at(-1) ?? '') as BenchReport;
  return { wall, cpu };
}

/** Both programs read the same files; they are made once. */
function modelFolder(kind: Case['model']): string {
  if (values.model !== undefined) return resolve(values.model);
  const folder = join(root, 'out', `bench-${kind}`);
  if (!existsSync(join(folder, 'model.safetensors')))
    output(process.execPath, [join(root, 'scripts/bench/model.ts'), folder, kind]);
  return folder;
}

function output(program: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stderr}`);
  return stdout;
}

/** Of each program: its median over the rounds of its median seconds; of each backend also the ratio to TRL. */
function table(): string {
  const rows = Object.entries(results).map(([name, timed]) => {
    const cells = programs.map((program) => {
      const seconds = median(timed[program] ?? []).toPrecision(3);
      const ratio = ratios(timed, program);
      if (program === 'trl' || ratio.length === 0) return seconds;
      const [low, high] = [Math.min(...ratio), Math.max(...ratio)];
      return `${seconds} **[${median(ratio).toFixed(2)}]** (${low.toFixed(2)}–${high.toFixed(2)})`;
    });
    return `| ${CASES[name]?.title} | ${cells.join(' | ')} |`;
  });
  const head = `| case | ${programs.join(' | ')} |\n|${'---|'.repeat(programs.length + 1)}`;
  return `${head}\n${rows.join('\n')}\n`;
}

function ratios(timed: Readonly<Record<string, readonly number[]>>, program: string): number[] {
  const peer = timed.trl ?? [];
  return (timed[program] ?? []).flatMap((seconds, round) => {
    const other = peer[round];
    return other === undefined ? [] : [seconds / other];
  });
}

function summary(): Record<string, Record<string, { seconds: number[]; ratio: number[] }>> {
  return Object.fromEntries(
    Object.entries(results).map(([name, timed]) => [
      name,
      Object.fromEntries(
        programs.map((program) => [program, { seconds: timed[program] ?? [], ratio: ratios(timed, program) }]),
      ),
    ]),
  );
}
