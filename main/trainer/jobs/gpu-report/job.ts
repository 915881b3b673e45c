/** Job: is what this machine's GPU computes right, and how fast is it? */
import * as tf from '@tensorflow/tfjs-core';
import type { GpuMemory } from '../../../native/gpu-memory.ts';
import { type ComputeDtype, computedIn, whyNoBfloat16 } from '../../../tensor/compute-dtype.ts';
import type { WebGpuBackend } from '../../../tensor/webgpu/backend.ts';
import { adapterName, unitsInWords } from '../../../tensor/webgpu/describe.ts';
import type { AdapterFacts } from '../../../tensor/webgpu/protocol.ts';
import type { WeightPrecision } from '../../../tensor/weights.ts';
import type { BackendChoice } from '../../backend/open-backend.ts';
import { gpuMemory } from '../../memory/device.ts';
import type { JobIo } from '../job-io.ts';
import { type Agreement, compareWithProcessor } from './agreement.ts';
import { GPU_LOAD, type Load, measurePeaks, type Peaks, SOFTWARE_LOAD, type Timing, timeShape } from './measure.ts';
import { LARGEST, SHAPES, type Shape } from './shapes.ts';

export interface GpuReportJob extends BackendChoice {
  readonly kind: 'gpu-report';
  readonly backend: 'webgpu';
  /** Names of shapes; null: all, and of a software adapter the smallest. */
  readonly shapes: readonly string[] | null;
  readonly precisions: readonly WeightPrecision[];
}

export interface GpuReportResult {
  readonly name: string;
  readonly adapter: AdapterFacts;
  /** What products with frozen weights of 16 bits and fewer used, in words. */
  readonly units: string;
  readonly memory: GpuMemory | null;
  readonly agreements: readonly Agreement[];
  readonly load: Load;
  readonly peaks: Peaks;
  readonly timings: readonly (Timing | TimingFault)[];
}

/** A shape that could not be timed: the next may still fit, and what did not is worth knowing. */
export interface TimingFault {
  readonly shape: string;
  readonly precision: WeightPrecision;
  readonly computed: ComputeDtype;
  readonly fault: string;
}

/** The report takes ten minutes at most, of which the suites of a checkout need some. */
const MOST_TIMING_MS = 6 * 60_000;

interface Work {
  readonly shape: Pick<Shape, 'name'>;
  readonly precision: WeightPrecision;
  readonly computed: ComputeDtype;
}

/** Times one after the other; what fails is said to, and what is left when the time is over. */
export async function timeWithin<W extends Work>(
  work: readonly W[],
  time: (work: W) => Timing,
  progress: (done: number) => Promise<void>,
  mostMs = MOST_TIMING_MS,
): Promise<readonly (Timing | TimingFault)[]> {
  const end = performance.now() + mostMs;
  const timings: (Timing | TimingFault)[] = [];
  for (const one of work) {
    await progress(timings.length);
    const failed = (fault: string): TimingFault => ({
      shape: one.shape.name,
      precision: one.precision,
      computed: one.computed,
      fault,
    });
    if (performance.now() >= end) {
      timings.push(failed('not timed: the time was over; --shapes asks for it alone'));
      continue;
    }
    try {
      timings.push(time(one));
    } catch (error) {
      timings.push(failed(error instanceof Error ? error.message : String(error)));
    }
  }
  return timings;
}

/** What the GPU can compute products in. */
const dtypes = (): readonly ComputeDtype[] => (whyNoBfloat16() === null ? ['float32', 'bfloat16'] : ['float32']);

export async function runGpuReportJob(job: GpuReportJob, io: JobIo): Promise<GpuReportResult> {
  const backend = tf.backend() as WebGpuBackend;
  const { adapter } = backend.gpu;
  const wanted = job.shapes ?? (adapter.software ? ['tiny'] : SHAPES.map(({ name }) => name));
  const work = [...SHAPES, LARGEST]
    .filter(({ name }) => wanted.includes(name))
    .flatMap((shape) =>
      job.precisions.flatMap((precision) => dtypes().map((computed) => ({ shape, precision, computed }))),
    );
  const parts = 2 + work.length;
  await io.progress(0, parts, 'parts');
  const memory = gpuMemory(backend.gpu);
  const compared = job.precisions.flatMap((precision) => dtypes().map((computed) => ({ precision, computed })));
  const plain = { precision: 'float32', computed: 'float32' } as const;
  const agreements = await compareWithProcessor(job.kernelsFile, [plain, ...compared]);
  await io.progress(1, parts, 'parts');
  const load = adapter.software ? SOFTWARE_LOAD : GPU_LOAD;
  const peaks = measurePeaks(load);
  const timings = await timeWithin(
    work,
    (one) => computedIn(one.computed, () => timeShape(backend, one, peaks, load)),
    (done) => io.progress(2 + done, parts, 'parts'),
  );
  return {
    name: adapterName(adapter),
    adapter,
    units: unitsInWords(backend.gpu),
    memory,
    agreements,
    load,
    peaks,
    timings,
  };
}
