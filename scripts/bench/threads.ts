/**
 * What more threads than this machine has would make of a GRPO step on wasm: a table for docs/performance.md.
 * `node scripts/bench/threads.ts [MODEL_DIR]`; a few minutes on two otherwise idle cores.
 *
 * Work is divided as for T threads but done by one, which times each job. T threads draw a job's tiles from one counter,
 * so a job of n equal tiles takes ceil(n / T) of them; what is not in jobs takes as long as before. Caches, memory and
 * clocks that cores share are left out, as is the waking of threads: it is the best that T cores can do. The steps of
 * one and two threads are measured, too.
 */
import { join } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import '../../main/tensor/gradients.ts';
import { JOB_ARGS, JOB_PARALLEL, JOB_PARAMETERS, JOB_TILES } from '../../main/tensor/kernels/ids.ts';
import { closeWasmBackend, openWasmBackend } from '../../main/tensor/wasm/boot.ts';
import type { Pool } from '../../main/tensor/wasm/pool.ts';
import { registerKernels } from '../../main/tensor/wasm/register.ts';
import { median } from '../../main/text/intervals.ts';
import { type BenchJob, runBenchJob } from '../../main/trainer/jobs/bench.ts';

const root = join(import.meta.dirname, '../..');
const { kernels: kernelsFile, resources } = checkoutPaths(root);
const tiny = join(resources, 'models/tiny');
const THREADS = [1, 2, 4, 8, 16];
const MEASURED = [1, 2];
const STEPS = 5;

type Case = Pick<BenchJob, 'modelFolder' | 'mode' | 'beta' | 'words' | 'group' | 'prompts'>;
const FULL: Case = { modelFolder: tiny, mode: 'full', beta: 0, words: 10, group: 8, prompts: 4 };
const [model] = process.argv.slice(2);
const cases: Readonly<Record<string, Case>> = {
  'tiny, full, 10 words': FULL,
  'tiny, full, 50 words': { ...FULL, words: 50 },
  'tiny, LoRA and KL, 10 words': { ...FULL, mode: 'lora', beta: 0.04 },
  ...(model !== undefined && {
    'given model, LoRA and KL, 10 words': { ...FULL, modelFolder: model, mode: 'lora', beta: 0.04, prompts: 1 },
  }),
};

/** A job of the pool, done by one thread. */
interface Timed {
  readonly seconds: number;
  readonly tiles: number;
}

console.log(`| s a step | ${THREADS.map((threads) => `${threads} threads`).join(' | ')} | measured, 1 and 2 |`);
console.log(`|---|${THREADS.map(() => '---|').join('')}---|`);
for (const [name, of] of Object.entries(cases)) {
  const planned: number[] = [];
  for (const threads of THREADS) planned.push(await plannedSeconds(of, threads));
  const measured: number[] = [];
  for (const threads of MEASURED) measured.push(await measuredSeconds(of, threads));
  const cell = (seconds: number): string =>
    `${seconds.toPrecision(3)} (${((planned[0] ?? seconds) / seconds).toFixed(2)})`;
  console.log(
    `| ${name} | ${planned.map(cell).join(' | ')} | ${measured.map((seconds) => seconds.toPrecision(3)).join(', ')} |`,
  );
}

/** A step's seconds as `threads` would share it. */
async function plannedSeconds(of: Case, threads: number): Promise<number> {
  const runtime = await openWasmBackend({ kernelsFile, threads: 1 });
  let jobs: Timed[] = [];
  const timed = (tiles: number, parallel: boolean, run: () => void): void => {
    const began = performance.now();
    run();
    if (parallel && tiles > 1) jobs.push({ seconds: (performance.now() - began) / 1000, tiles });
  };
  const pool: Pool = {
    ...runtime.pool,
    run: (kernel, args, tiles, parallel = true) => {
      timed(tiles, parallel, () => runtime.pool.run(kernel, args, tiles, false));
    },
    runList: (address, count) => {
      let at = address;
      for (let i = 0; i < count; i++) {
        const words = runtime.heap.i32(at, JOB_ARGS / 4);
        const [tiles = 0, parallel = 0, args = 0] = [JOB_TILES, JOB_PARALLEL, JOB_PARAMETERS].map(
          (of) => words[of / 4],
        );
        const job = at;
        timed(tiles, parallel === 1, () => runtime.pool.runList(job, 1));
        at += JOB_ARGS + 8 * args;
      }
    },
  };
  registerKernels({ ...runtime, threads, pool });
  const saved: number[] = [];
  const seconds = await steps(of, threads, () => {
    saved.push(jobs.reduce((sum, job) => sum + savedSeconds(job, threads), 0));
    jobs = [];
  });
  await closeWasmBackend(runtime);
  return median(seconds.map((all, step) => all - (saved[step + 1] ?? 0)));
}

function savedSeconds({ seconds, tiles }: Timed, threads: number): number {
  return seconds * (1 - Math.ceil(tiles / threads) / tiles);
}

async function measuredSeconds(of: Case, threads: number): Promise<number> {
  const runtime = await openWasmBackend({ kernelsFile, threads });
  const seconds = await steps(of, threads);
  await closeWasmBackend(runtime);
  return median(seconds);
}

/** Seconds of each timed step, after one that warms up; `onStep` is called after that one, too. */
async function steps(of: Case, threads: number, onStep: () => void = () => undefined): Promise<readonly number[]> {
  const job: BenchJob = {
    kind: 'bench',
    backend: 'wasm',
    threads,
    kernelsFile,
    ...of,
    baseWeights: 'auto',
    computeDtype: 'float32',
    steps: STEPS,
    warmup: 1,
    seed: 42,
    roofline: false,
  };
  const { times } = await runBenchJob(job, {
    backend: { name: 'wasm', threads },
    progress: async () => onStep(),
    alive: () => undefined,
    text: () => undefined,
    messages: () => undefined,
  });
  return times.map(({ seconds }) => seconds);
}
