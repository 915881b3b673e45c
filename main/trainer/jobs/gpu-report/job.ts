/** Job: is what this machine's GPU computes right, and how fast is it? */
import * as tf from '@tensorflow/tfjs-core';
import type { GpuMemory } from '../../../native/gpu-memory.ts';
import type { WebGpuBackend } from '../../../tensor/webgpu/backend.ts';
import { adapterName } from '../../../tensor/webgpu/describe.ts';
import type { AdapterFacts } from '../../../tensor/webgpu/protocol.ts';
import type { WeightPrecision } from '../../../tensor/weights.ts';
import type { BackendChoice } from '../../backend.ts';
import { gpuMemory } from '../../memory/device.ts';
import type { JobIo } from '../job-io.ts';
import { type Agreement, compareWithProcessor } from './agreement.ts';
import { GPU_LOAD, type Load, measurePeaks, type Peaks, SOFTWARE_LOAD, type Timing, timeShape } from './measure.ts';
import { SHAPES } from './shapes.ts';

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
  readonly fault: string;
}

export async function runGpuReportJob(job: GpuReportJob, io: JobIo): Promise<GpuReportResult> {
  const backend = tf.backend() as WebGpuBackend;
  const { adapter } = backend.gpu;
  const wanted = job.shapes ?? (adapter.software ? ['tiny'] : SHAPES.map(({ name }) => name));
  const work = SHAPES.filter(({ name }) => wanted.includes(name)).flatMap((shape) =>
    job.precisions.map((precision) => ({ shape, precision })),
  );
  const parts = 2 + work.length;
  await io.progress(0, parts, 'parts');
  const memory = gpuMemory(backend.gpu);
  const agreements = await compareWithProcessor(job.kernelsFile, ['float32', ...job.precisions]);
  await io.progress(1, parts, 'parts');
  const load = adapter.software ? SOFTWARE_LOAD : GPU_LOAD;
  const peaks = measurePeaks(load);
  const timings: (Timing | TimingFault)[] = [];
  for (const { shape, precision } of work) {
    await io.progress(2 + timings.length, parts, 'parts');
    try {
      timings.push(timeShape(backend, shape, precision, peaks, load));
    } catch (error) {
      timings.push({ shape: shape.name, precision, fault: error instanceof Error ? error.message : String(error) });
    }
  }
  return { name: adapterName(adapter), adapter, memory, agreements, load, peaks, timings };
}
