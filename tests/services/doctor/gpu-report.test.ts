import { describe, expect, it } from 'vitest';
import {
  type examineGpu,
  gpuReport,
  newestGpuReport,
  reportIsGood,
  type SuiteOutcome,
  startGpuReport,
} from '../../../main/services/doctor/gpu-report.ts';
import type { GpuReportResult } from '../../../main/trainer/jobs/gpu-report/job.ts';
import { jobEnd, modelHost } from '../models/places.ts';

const limits = { maxBufferSize: 2 ** 30, maxComputeInvocationsPerWorkgroup: 256 };
const adapter = { vendor: 'nvidia', architecture: '', device: 'NVIDIA A40', description: '570', software: false };
const result = {
  name: 'NVIDIA A40 (570)',
  adapter: { ...adapter, features: ['shader-f16', 'bgra8unorm-storage'], limits },
  units: '8 × 8 × 8 numbers of float32 in subgroups of 32',
  memory: { bytes: 40 * 2 ** 30, source: 'nvidia-smi' },
  agreements: [{ what: 'log-probabilities, nf4 weights', difference: 3e-7, bound: 1e-4 }],
  load: { edge: 4096, promptTokens: 64, rows: 16, decoded: 64, trained: 64 },
  peaks: { gflops: 20_000, bandwidth: 600 },
  timings: [
    {
      shape: 'tiny',
      precision: 'nf4',
      computed: 'bfloat16',
      decoded: 900.1,
      bandwidthShare: 0.61,
      trained: 8000,
      peakShare: 0.5,
      stepSeconds: 1.25,
      dispatchesPerToken: 40,
      peakBytes: 2 ** 29,
    },
    { shape: '3.2 B', precision: 'stored', computed: 'float32', fault: 'Out of GPU memory' },
  ],
} as unknown as GpuReportResult;

const passed: SuiteOutcome = { name: 'tests/tensor/ops', state: 'passed', lines: ['Tests  10 passed'] };

describe('gpuReport', () => {
  it('says whether it is right, how fast it is, and what could not be timed', () => {
    const text = gpuReport(result, [passed], new Date('2026-11-23'));
    expect(text).toContain('2026-11-23, NVIDIA A40 (570), Node');
    expect(text).toContain('Memory: 40.00 GiB (nvidia-smi)');
    expect(text).toContain('Features: shader-f16.');
    expect(text).toContain('Matrix units: 8 × 8 × 8 numbers of float32 in subgroups of 32.');
    expect(text).toContain('Yes. A small model');
    expect(text).toContain('| log-probabilities, nf4 weights | 3.0e-7 | 0.0001 | ok |');
    expect(text).toContain('    tests/tensor/ops: passed.\n    Tests  10 passed');
    expect(text).toContain('| tiny | nf4, in bfloat16 | 900.1 | 61% | 8000.0 | 50% | 1.25 | 40 | 0.50 |');
    expect(text).toContain('| 3.2 B | bfloat16 | Out of GPU memory | | | | | | |');
  });

  it('does not call right what differs or is not a number', () => {
    for (const difference of [1e-3, Number.NaN]) {
      const text = gpuReport({ ...result, agreements: [{ what: 'x', difference, bound: 1e-4 }] });
      expect(text).toContain('**No: 1 of 1 quantities differ.**');
    }
  });

  it('does not call right where a suite failed or could not be run, and neither does the exit code', () => {
    const failed: SuiteOutcome = { name: 'tests/parity', state: 'failed', lines: ['FAIL  tests/parity/lora.test.ts'] };
    const notRun: SuiteOutcome = { name: 'tests/tensor/webgpu', state: 'not run', lines: ['Ended after 600 s.'] };
    expect(gpuReport(result, [passed, failed])).toContain('**No: 1 of 2 test suites failed.**');
    expect(gpuReport(result, [passed, notRun])).toContain('**Not known: 1 of 2 test suites could not be run.**');
    expect(gpuReport(result, [failed, notRun])).toContain(
      '**No: 1 of 2 test suites failed, 1 of 2 test suites could not be run.**',
    );
    expect(gpuReport(result)).toContain('no test suite was run');
    expect([[passed], [], [passed, failed], [notRun]].map((suites) => reportIsGood(result, suites))).toEqual([
      ...[true, true, false, false],
    ]);
    const wrong = { ...result, agreements: [{ what: 'x', difference: 1, bound: 1e-4 }] };
    expect(reportIsGood(wrong, [passed])).toBe(false);
  });
});

describe('startGpuReport', () => {
  it('makes one report at a time, as a job that leaves it in the workspace', async () => {
    const host = modelHost() as unknown as Parameters<typeof startGpuReport>[0] & ReturnType<typeof modelHost>;
    expect(newestGpuReport(host)).toBeNull();
    const examine: typeof examineGpu = async () => result;
    startGpuReport(host, examine);
    expect(() => startGpuReport(host, examine)).toThrow(expect.objectContaining({ code: 'REPORT_BUSY' }));
    expect(await jobEnd(host)).toMatchObject({ kind: 'gpu-report', state: 'done' });
    expect(newestGpuReport(host)?.text).toContain('# GPU report');
  });

  it('keeps the earlier report where another one fails', async () => {
    const host = modelHost() as unknown as Parameters<typeof startGpuReport>[0] & ReturnType<typeof modelHost>;
    startGpuReport(host, async () => result);
    await jobEnd(host);
    startGpuReport(host, () => Promise.reject(new Error('The GPU went away')));
    expect(await jobEnd(host)).toMatchObject({ state: 'failed' });
    expect(newestGpuReport(host)).not.toBeNull();
  });
});
