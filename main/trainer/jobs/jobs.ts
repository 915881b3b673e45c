/** The jobs of a trainer process: it does one, then exits. */

import type { TrainerStart } from '../protocol/start.ts';
import type { JobEvent, TrainerEvent } from '../protocol/trainer-events.ts';
import type { BenchJob, BenchResult } from './bench.ts';
import type { ConvertGgufJob } from './convert-gguf.ts';
import type { EngineTestJob, EngineTestResult } from './engine-test.ts';
import type { EvaluateJob, EvaluateResult } from './evaluate-models.ts';
import type { GenerateJob, GenerateResult } from './generate-text.ts';
import type { GgufAnswers, GgufAnswersJob } from './gguf-answers.ts';
import type { GpuReportJob, GpuReportResult } from './gpu-report/job.ts';
import type { KeepModelJob } from './keep-model/job.ts';
import type { MergeFiles, MergeJob } from './merge.ts';
import type { PlayJob, PlayResult } from './play.ts';
import type { PreflightJob, PreflightResult } from './preflight.ts';
import type { SampleJob, SampleResult } from './sample.ts';
import type { ScoreJob, ScoreResult } from './score.ts';
import type { SelfCheckJob, SelfCheckResult } from './self-check.ts';

/** Jobs other than runs: they report progress, return one result and store nothing. */
export type SideJob =
  | EvaluateJob
  | GenerateJob
  | PlayJob
  | SampleJob
  | ScoreJob
  | BenchJob
  | EngineTestJob
  | PreflightJob
  | SelfCheckJob
  | GpuReportJob
  | MergeJob
  | ConvertGgufJob
  | GgufAnswersJob
  | KeepModelJob;

export type TrainerJob = TrainerStart | SideJob;

/** The result of each side job. */
export interface SideJobResults {
  readonly evaluate: EvaluateResult;
  readonly sample: SampleResult;
  readonly score: ScoreResult;
  readonly bench: BenchResult;
  readonly 'engine-test': EngineTestResult;
  readonly preflight: PreflightResult;
  readonly generate: GenerateResult;
  readonly play: PlayResult;
  readonly 'self-check': SelfCheckResult;
  readonly 'gpu-report': GpuReportResult;
  readonly merge: MergeFiles;
  readonly 'convert-gguf': null;
  readonly 'gguf-answers': GgufAnswers;
  readonly 'keep-model': null;
}

export type SideJobResult<J extends SideJob> = SideJobResults[J['kind']];

/** A job's progress reports. */
export type EventOf<J extends TrainerJob> = J extends TrainerStart ? TrainerEvent : JobEvent;
