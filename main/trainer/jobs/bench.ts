/** Job: times whole GRPO steps with the training loop itself, without storing anything. */
import * as tf from '@tensorflow/tfjs-core';
import { modelParameters } from '../../model/model.ts';
import { parameterCount } from '../../model/parameter.ts';
import { loadTokenizer } from '../../model/tokenizer.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import type { RewardComponents, Task } from '../../tasks/task.ts';
import { WebGpuBackend } from '../../tensor/webgpu/backend.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { parseConfig, type TrainConfig } from '../config/config.ts';
import { openLocalEngine } from '../local/local-engine.ts';
import { openSessionOn, type Session } from '../local/session.ts';
import { trainGrpo } from '../loops/grpo.ts';
import type { RunIo } from '../loops/run-io.ts';
import { openTrialIo } from '../loops/trial-io.ts';
import { openPhases, type Phases } from '../monitor/phases.ts';
import { benchRecords } from './bench-records.ts';
import type { JobIo } from './job-io.ts';
import { fasterOf, measureGpuPeaks, measurePeaks, type Peaks } from './peaks.ts';
import { openRecorder, type RooflineResult } from './roofline.ts';

export interface BenchJob extends BackendChoice {
  readonly kind: 'bench';
  readonly modelFolder: string;
  readonly mode: 'full' | 'lora';
  /** P */
  readonly prompts: number;
  /** G */
  readonly group: number;
  /** Words per fragment; completions have 2 x words + 4 tokens. */
  readonly words: number;
  readonly beta: number;
  readonly baseWeights: TrainConfig['base_weights'];
  readonly computeDtype: TrainConfig['compute_dtype'];
  /** Timed steps. */
  readonly steps: number;
  /** Untimed warm-up steps. */
  readonly warmup: number;
  readonly seed: number;
  /** Whether each op of the timed steps is measured too, which slows them down. */
  readonly roofline: boolean;
}

/** Seconds of one step, in total and by phase. */
export interface StepTime {
  readonly seconds: number;
  /** CPU time of all threads: on a shared machine, more stable than wall-clock time. */
  readonly cpuSeconds: number;
  readonly phases: Readonly<Record<string, number>>;
}

export interface BenchResult {
  /** The timed steps, in order. */
  readonly times: readonly StepTime[];
  readonly completionTokens: number;
  readonly promptTokens: number;
  readonly parameters: number;
  readonly trainable: number;
  /** Peak memory of the process so far, in MiB. */
  readonly peakMemoryMb: number;
  readonly roofline: RooflineResult | null;
}

/** Runs the warm-up and the timed steps. */
export async function runBenchJob(job: BenchJob, io: JobIo): Promise<BenchResult> {
  const config = benchConfig(job);
  const session = openBenchSession(job, config);
  try {
    const times: StepTime[] = [];
    const backend = tf.backend();
    const gpu = backend instanceof WebGpuBackend ? backend.gpu : null;
    const recorder = job.roofline ? openRecorder(openPhases(), gpu) : null;
    const peaksNow = (): Peaks => (gpu === null ? measurePeaks() : measureGpuPeaks(gpu));
    const before = recorder === null ? null : peaksNow();
    if (job.warmup === 0) recorder?.start();
    const onStep = (done: number): Promise<void> => {
      if (done === job.warmup) recorder?.start();
      return io.progress(done, config.max_steps, 'steps');
    };
    await trainGrpo(session, openLocalEngine(session), clock(times, recorder?.phases ?? openPhases(), onStep));
    const peakMemoryMb = process.resourceUsage().maxRSS / 1024;
    const recorded = recorder?.stop();
    return {
      times: times.slice(job.warmup),
      completionTokens: job.prompts * job.group * session.maxCompletionLength,
      promptTokens: session.records[0]?.promptIds.length ?? 0,
      parameters: parameterCount(modelParameters(session.policy.model)),
      trainable: parameterCount(session.parameters),
      peakMemoryMb,
      // At both ends: other programs may have had the machine for the second that one of them takes.
      roofline: before && recorded ? { peaks: fasterOf(before, peaksNow()), ...recorded } : null,
    };
  } finally {
    session.dispose();
  }
}

/** LoRA's defaults are the rank 16, alpha 32 and all linear layers of the bench. */
function benchConfig(job: BenchJob): TrainConfig {
  return parseConfig(
    {
      model: job.modelFolder,
      use_peft: job.mode === 'lora',
      beta: job.beta,
      base_weights: job.baseWeights,
      compute_dtype: job.computeDtype,
      seed: job.seed,
      max_steps: job.warmup + job.steps,
      num_generations: job.group,
      per_device_train_batch_size: job.prompts * job.group,
      max_completion_length: 2 * job.words + 4,
      learning_rate: 1e-5,
      loss_type: 'dapo',
    },
    'bench',
  );
}

/** Every other completion scores more: one without an advantage would take no backward pass. */
export function spread(task: Task<InterleaveRecord>): Task<InterleaveRecord> {
  const raised = (components: RewardComponents, i: number): RewardComponents => ({
    ...components,
    alignment: (components.alignment ?? 0) + (i % 2),
  });
  return {
    ...task,
    score: (answers) => task.score(answers).map((score, i) => ({ ...score, components: raised(score.components, i) })),
    fit: (...given) => spread(task.fit(...given)),
  };
}

function openBenchSession(job: BenchJob, config: TrainConfig): Session {
  const { modelFolder, kernelsFile, seed } = job;
  const tokenizer = loadTokenizer(modelFolder);
  const records = benchRecords(tokenizer, job.prompts * config.max_steps, job.words, seed);
  const start = {
    ...({ kind: 'start', config, modelFolder, kernelsFile, outputDir: '', resumeFrom: null, estimate: null } as const),
    task: config.task,
    rewardWorker: '',
    records: records.map(({ record }) => record),
    evalRecords: [],
  };
  const maxCompletionLength = 2 * job.words + 4;
  const session = openSessionOn(
    start,
    { tokenizer, records, evalRecords: [], maxCompletionLength },
    spread(interleaveTask),
  );
  // Every completion must have the full length, so there is no end token.
  const { model, adapter } = session.policy;
  return {
    ...session,
    tokenizer: { ...tokenizer, eosTokenId: null },
    policy: { model: { ...model, config: { ...model.config, eosTokenIds: [] } }, adapter },
  };
}

/** A reporting side that only measures time. */
function clock(times: StepTime[], phases: Phases, onStep: (done: number) => Promise<void>): RunIo {
  let [began, cpu] = [performance.now(), process.cpuUsage()];
  return openTrialIo(phases, {
    endStep: async () => {
      const { user, system } = process.cpuUsage(cpu);
      const seconds = (performance.now() - began) / 1000;
      times.push({ seconds, cpuSeconds: (user + system) / 1e6, phases: phases.take() });
      await onStep(times.length);
      [began, cpu] = [performance.now(), process.cpuUsage()];
    },
  });
}
