/** The types that a page may name: what procedures answer with. The renderer imports these and nothing else of main/. */

export type { AppStatus } from '../../services/app/status.ts';
export type {
  ComparedModel,
  ComparisonSummary,
  ComparisonView,
  PromptRow,
  PromptSource,
} from '../../services/comparisons/paired/index.ts';
export type { ConfigField, Preset } from '../../services/config/form.ts';
export type { Curriculum, StageOrigin, StageView } from '../../services/curriculum/curriculum.ts';
export type { ForgettingCell, ForgettingRow } from '../../services/curriculum/forgetting.ts';
export type { StageChange } from '../../services/datasets/corpus-change.ts';
export type { Leakage } from '../../services/datasets/leakage.ts';
export type { SplitCheck, SplitStatistics } from '../../services/datasets/reply-split/split.ts';
export type { StageSupply } from '../../services/datasets/supply.ts';
export type { StoredTemplate } from '../../services/datasets/templates.ts';
export type { Check } from '../../services/doctor/doctor.ts';
export type { DatasetDetail, DatasetSummary } from '../../services/library/catalogue.ts';
export type { FoundFile } from '../../services/library/found-files.ts';
export type { ImportOutcome, ImportPreview } from '../../services/library/imports.ts';
export type { MadeDatasets, TakenName } from '../../services/library/make-datasets.ts';
export type { RecordView } from '../../services/library/record-files.ts';
export type { JoinPreview, WholeText } from '../../services/library/texts.ts';
export type { HubAccess } from '../../services/models/hub-access.ts';
export type { ModelDetail } from '../../services/models/inspect.ts';
export type { ModelEntry } from '../../services/models/list.ts';
export type { Dependants } from '../../services/models/remove.ts';
export type { NativeState } from '../../services/native-setup/job.ts';
export type { Answer } from '../../services/playground/playground.ts';
export type { ReplyRun } from '../../services/recipes/reply-demo.ts';
export type { Criterion } from '../../services/recipes/trial.ts';
export type { ReplyChecklist, ReplyCheckName, TickName } from '../../services/replies/checklist.ts';
export type { ReplyDesk } from '../../services/replies/desk.ts';
export type { SplitRecord } from '../../services/replies/memory.ts';
export type { MethodView } from '../../services/replies/methods.ts';
export type { ReportView } from '../../services/replies/report.ts';
export type { StartPoints } from '../../services/replies/start-points.ts';
export type { RunCost } from '../../services/runs/cost.ts';
export type { RunDetail, RunSummary } from '../../services/runs/history.ts';
export type { Promotion } from '../../services/runs/promotion.ts';
export type { FoundSample } from '../../services/runs/samples/find.ts';
export type { RecordStep, RunSamples, SampleView } from '../../services/runs/samples/samples.ts';
export type { Spread } from '../../services/runs/seed-groups.ts';
export type { SignalBudget, SignalSetting } from '../../services/runs/signal/run-signal.ts';
export type { Advice, AdvisedRun } from '../../services/runs/verdict/advice.ts';
export type { Verdict } from '../../services/runs/verdict/verdict.ts';
export type { WholeCheckpoint } from '../../services/runs/whole-checkpoint.ts';
export type { DatasetPreview } from '../../services/text-worker/dataset-tasks.ts';
export type { ImportedFile, IncomingText } from '../../services/text-worker/import-tasks.ts';
export type { CorpusOverview } from '../../services/text-worker/overview-task.ts';
export type { LiveStatus } from '../../services/training/live-status.ts';
export type { Preflight, SampledGroups } from '../../services/training/preflight.ts';
export type { RunNews, RunStanding } from '../../services/training/run-watch.ts';
export type { Change, Topic } from '../../services/workspace/changes.ts';
export type { JobStatus } from '../../services/workspace/jobs.ts';
export type { Notice } from '../../services/workspace/notices.ts';
export type { SettingField } from '../../services/workspace/setting-fields.ts';
export type { SettingsChange } from '../../services/workspace/settings.ts';
export type { MetricBucket, StepMetrics } from '../../store/metrics.ts';
export type { SampleFilter, SampleOrder } from '../../store/sample-finder.ts';
export type { SampleFacts, SampleKey, StepRewards } from '../../store/samples.ts';
export type { TextHeading } from '../../store/texts.ts';
export type { InterleaveRecord } from '../../tasks/interleave/record.ts';
export type { AlignedWord } from '../../text/word-alignment.ts';
export type { ConfigFault } from '../../trainer/config.ts';
export type { PageRequest } from '../page-requests.ts';
