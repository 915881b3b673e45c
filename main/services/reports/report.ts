/** What a report holds: the app's own views of one result, as they were when it was made. */
import type { MetricBucket } from '../../store/metrics.ts';
import type { StepRewards } from '../../store/samples.ts';
import type { ComparisonView, PromptAnswers } from '../comparisons/paired/index.ts';
import type { Curriculum } from '../curriculum/curriculum.ts';
import type { Forgetting } from '../curriculum/forgetting.ts';
import type { ReportView } from '../replies/report.ts';
import type { RunCost } from '../runs/cost.ts';
import type { RunDetail } from '../runs/history.ts';
import type { SampleView } from '../runs/samples/samples.ts';
import type { SweepView } from '../sweeps/result.ts';
import type { RunStanding } from '../training/run-watch.ts';

/** The best and the worst completion of a stored step. */
export interface ReportedStep extends StepRewards {
  readonly best: SampleView;
  /** Null for a single completion. */
  readonly worst: SampleView | null;
}

/** A file that the result was made from. */
export interface ReportedFile {
  readonly name: string;
  readonly what: 'earlier training records' | 'training records' | 'held-out records';
  /** SHA-256 of its bytes when the report was made, in hex; null: it is gone. */
  readonly sha256: string | null;
}

export interface RunContent {
  readonly kind: 'run';
  readonly detail: RunDetail;
  readonly standing: Pick<RunStanding, 'run' | 'verdict'>;
  /** Every metric in buckets over the whole run. */
  readonly curves: Readonly<Record<string, readonly MetricBucket[]>>;
  readonly cost: { readonly spent: RunCost; readonly left: RunCost };
  readonly steps: readonly ReportedStep[];
  /** Steps with stored completions, in the report or not. */
  readonly storedSteps: number;
  /** The default of every setting, by name. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly files: readonly ReportedFile[];
  /** Methods of the runs whose checkpoints it builds on, the first one first. */
  readonly earlierMethods: readonly string[];
  /** In the order in which they repeat it. */
  readonly commands: readonly string[];
}

export interface ComparisonContent {
  readonly kind: 'comparison';
  readonly view: ComparisonView;
  /** By the id of the prompt's record; empty where texts are left out. */
  readonly answers: Readonly<Record<string, PromptAnswers>>;
}

export interface SweepContent {
  readonly kind: 'sweep';
  readonly sweep: SweepView;
}

export interface RepliesContent {
  readonly kind: 'replies';
  readonly report: ReportView;
}

export interface CurriculumContent {
  readonly kind: 'curriculum';
  readonly curriculum: Curriculum;
  readonly forgetting: Forgetting;
}

export type ReportContent = RunContent | ComparisonContent | SweepContent | RepliesContent | CurriculumContent;

export interface Report {
  readonly title: string;
  /** The result in a sentence or two. */
  readonly summary: string;
  readonly madeAt: number;
  readonly version: string;
  /** The machine that made the report: processor, cores, memory, system. */
  readonly machine: string;
  /** Whether it has prompts, targets and completions. */
  readonly hasTexts: boolean;
  readonly content: ReportContent;
}
