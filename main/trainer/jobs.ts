/** What a trainer process can be asked to do: one job, then it ends. */
import type { BenchJob, BenchResult } from './bench-job.ts';
import type { EvaluateJob, EvaluateResult } from './evaluate-job.ts';
import type { JobEvent, TrainerEvent } from './events.ts';
import type { GenerateJob, GenerateResult } from './generate-job.ts';
import type { PreflightJob, PreflightResult } from './preflight-job.ts';
import type { SampleJob, SampleResult } from './sample-job.ts';
import type { ScoreJob, ScoreResult } from './score-job.ts';
import type { SelfCheckJob, SelfCheckResult } from './self-check-job.ts';
import type { TrainerStart } from './start.ts';

/** Jobs that are no run: they tell how far they are, give one result and leave nothing behind. */
export type SideJob = EvaluateJob | GenerateJob | SampleJob | ScoreJob | BenchJob | PreflightJob | SelfCheckJob;

export type TrainerJob = TrainerStart | SideJob;

/** What each side job gives. */
export interface SideJobResults {
  readonly evaluate: EvaluateResult;
  readonly sample: SampleResult;
  readonly score: ScoreResult;
  readonly bench: BenchResult;
  readonly preflight: PreflightResult;
  readonly generate: GenerateResult;
  readonly 'self-check': SelfCheckResult;
}

export type SideJobResult<J extends SideJob> = SideJobResults[J['kind']];

/** What a job tells while it is at work. */
export type EventOf<J extends TrainerJob> = J extends TrainerStart ? TrainerEvent : JobEvent;
