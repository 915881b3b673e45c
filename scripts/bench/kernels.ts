/**
 * Prints the matrix product's GFLOPS for the shapes that training and generation use, with A·B, A·Bᵀ and Aᵀ·B for every
 * thread count: `node scripts/bench/kernels.ts [--revectorize] [threads…]`. Best of several runs; on a shared machine
 * compare columns, not days.
 */
import { kernelsFile } from '../../main/tensor/kernels/build.ts';
import { closeWasmBackend, openWasmBackend } from '../../main/tensor/wasm/boot.ts';
import { gemm } from '../../main/tensor/wasm/gemm.ts';
import type { WasmRuntime } from '../../main/tensor/wasm/runtime.ts';

type Shape = readonly [m: number, n: number, k: number];

const shapes: readonly Shape[] = [
  ...([1, 8, 16].flatMap((m) => [
    [m, 576, 576],
    [m, 1536, 576],
    [m, 576, 1536],
    [m, 49152, 576],
  ]) as Shape[]),
  ...([128, 400, 4000].flatMap((m) => [
    [m, 576, 576],
    [m, 1536, 576],
    [m, 576, 1536],
  ]) as Shape[]),
  ...([
    [64, 64, 64],
    [128, 128, 64],
    [128, 64, 128],
    [512, 512, 512],
    [400, 49152, 576],
    [400, 576, 49152],
  ] as Shape[]),
  ...([
    [4000, 16, 576],
    [4000, 576, 16],
    [16, 576, 4000],
    [576, 16, 4000],
    [576, 1536, 4000],
  ] as Shape[]),
];

/** Whether A and B are stored transposed: forward of weights [out, in] is NT, its gradients are NN and TN. */
const layouts = ['NN', 'NT', 'TN'] as const;

const revectorize = process.argv.includes('--revectorize');
const threadCounts = process.argv
  .slice(2)
  .filter((word) => word !== '--revectorize')
  .map(Number);
const columns: Record<string, number[]>[] = [];
for (const threads of threadCounts.length > 0 ? threadCounts : [1, 2]) columns.push(await measureAll(threads));
for (const [m, n, k] of shapes) {
  const cells = columns.flatMap((column) => column[`${m},${n},${k}`] ?? []);
  console.log(`${`${m} ${n} ${k}`.padEnd(18)}${cells.map((value) => value.toFixed(1).padStart(8)).join('')}`);
}

async function measureAll(threads: number): Promise<Record<string, number[]>> {
  const runtime = await openWasmBackend({ threads, kernelsFile, revectorize });
  const results: Record<string, number[]> = {};
  measure(runtime, [512, 512, 512], 'NT');
  for (const shape of shapes) results[shape.join()] = layouts.map((layout) => measure(runtime, shape, layout));
  await closeWasmBackend(runtime);
  return results;
}

function measure(runtime: WasmRuntime, [m, n, k]: Shape, layout: (typeof layouts)[number]): number {
  const { heap } = runtime;
  const [a, b, c] = [m * k, k * n, m * n].map((size) => heap.malloc(4 * size)) as [number, number, number];
  heap.f32(a, m * k).fill(0.5);
  heap.f32(b, k * n).fill(0.25);
  const [aRow, aCol] = layout[0] === 'T' ? [1, m] : [k, 1];
  const [bRow, bCol] = layout[1] === 'T' ? [1, k] : [n, 1];
  const flops = 2 * m * n * k;
  const repeats = Math.max(1, Math.round(2e8 / flops));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round++) {
    const start = performance.now();
    for (let i = 0; i < repeats; i++) gemm(runtime, { m, n, k, a, aRow, aCol, b, bRow, bCol, c, cRow: n });
    best = Math.min(best, (performance.now() - start) / repeats);
  }
  for (const address of [a, b, c]) heap.free(address);
  return flops / best / 1e6;
}
