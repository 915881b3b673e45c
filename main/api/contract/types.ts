/** The types that a page may name: what procedures answer with. The renderer imports these and nothing else of main/. */

export type { ChatMessage, ToolCall } from '../../samples/chat-message.ts';
export type { SampleFacts, SampleKey, ShownColumn } from '../../samples/sample.ts';
export type { AppStatus } from '../../services/app/status.ts';
export type { ChatSampling, Conversation, KeptAnswer } from '../../services/chat/conversation.ts';
export type { KeptConversation } from '../../services/chat/kept.ts';
export type { ChatNews, ChatToken } from '../../services/chat/news.ts';
export type { ServedModel } from '../../services/chat/served-models.ts';
export type {
  ComparedModel,
  ComparisonSummary,
  ComparisonView,
  PromptRow,
  PromptSource,
} from '../../services/comparisons/paired/index.ts';
export type { ConfigField, Preset } from '../../services/config/form.ts';
export type { Curriculum, StageOrigin, StageView } from '../../services/curriculum/curriculum.ts';
export type { Forgetting, ForgettingCell, ForgettingRow } from '../../services/curriculum/forgetting.ts';
export type { HubPreview } from '../../services/data-import/hub-preview.ts';
export type { ImportPlan } from '../../services/datasets/import/plan.ts';
export type { Leakage } from '../../services/datasets/leakage.ts';
export type { DraftRecord } from '../../services/datasets/record-page.ts';
export type { SplitCheck, SplitStatistics } from '../../services/datasets/reply-split/split.ts';
export type { StageChange } from '../../services/datasets/stage-changes.ts';
export type { StageSupply } from '../../services/datasets/supply.ts';
export type { StoredTemplate } from '../../services/datasets/templates.ts';
export type { Check } from '../../services/doctor/doctor.ts';
export type { ServerLauncher } from '../../services/engines/server-launcher.ts';
export type { EngineTest } from '../../services/engines/test-engine.ts';
export type { DatasetDetail, DatasetSummary } from '../../services/library/catalogue.ts';
export type { SplitPreview } from '../../services/library/edit-texts.ts';
export type { FoundFile } from '../../services/library/found-files.ts';
export type { ImportOutcome, ImportPreview } from '../../services/library/imports.ts';
export type { MadeDatasets, TakenName } from '../../services/library/make-datasets.ts';
export type { RecordView } from '../../services/library/record-files.ts';
export type { SimilarTexts, TextComparison } from '../../services/library/similar.ts';
export type { JoinPreview, WholeText } from '../../services/library/texts.ts';
export type { FoundModel } from '../../services/models/found.ts';
export type { HubAccess } from '../../services/models/hub-access.ts';
export type { ModelDetail } from '../../services/models/inspect.ts';
export type { ModelEntry } from '../../services/models/list.ts';
export type { Dependants } from '../../services/models/remove.ts';
export type { NativeState } from '../../services/native-setup/job.ts';
export type { PlayedRecord, PlayRecord } from '../../services/playground/play.ts';
export type { Answer } from '../../services/playground/playground.ts';
export type { PushPreview } from '../../services/publish/plan.ts';
export type { ReplyRun } from '../../services/recipes/reply-presets.ts';
export type { Criterion } from '../../services/recipes/trial.ts';
export type { ReplyChecklist, ReplyCheckName, TickName } from '../../services/replies/checklist.ts';
export type { ReplyDesk } from '../../services/replies/desk.ts';
export type { MethodView } from '../../services/replies/methods.ts';
export type { SeedTable } from '../../services/replies/over-seeds.ts';
export type { ModelReplies } from '../../services/replies/posts.ts';
export type { ChartData, ReportView } from '../../services/replies/report.ts';
export type { StartPoints } from '../../services/replies/start-points.ts';
export type { SplitRecord } from '../../services/replies/stored-state.ts';
export type {
  ComparisonContent,
  CurriculumContent,
  RepliesContent,
  Report,
  ReportedStep,
  RunContent,
  SweepContent,
} from '../../services/reports/report.ts';
export type { OutsideComponent } from '../../services/reward-trials/draft-consent.ts';
export type { RecordsSource } from '../../services/reward-trials/draft-records.ts';
export type { DraftFacts, DraftFault, RescoredDraft, TrialSource } from '../../services/reward-trials/drafts.ts';
export type { TextFunction } from '../../services/reward-trials/editor-functions.ts';
export type { GamingReport } from '../../services/reward-trials/gaming.ts';
export type { ScoredCompletion, TrialReport } from '../../services/reward-trials/trial-report.ts';
export type { ExportedFiles } from '../../services/runs/exports/exports.ts';
export type { HeldOutStanding } from '../../services/runs/held-out.ts';
export type { RunDetail, RunSummary } from '../../services/runs/history.ts';
export type { Promotion } from '../../services/runs/promotion.ts';
export type { FoundSample } from '../../services/runs/samples/find.ts';
export type { RecordStep, RunSamples, SampleView } from '../../services/runs/samples/samples.ts';
export type { Spread } from '../../services/runs/seed-groups.ts';
export type { VariedSettings } from '../../services/runs/varied-settings.ts';
export type { Advice, AdvisedRun } from '../../services/runs/verdict/advice.ts';
export type { Verdict } from '../../services/runs/verdict/verdict.ts';
export type { WholeCheckpoint } from '../../services/runs/whole-checkpoint.ts';
export type { ServerStatus } from '../../services/servers/servers.ts';
export type { SweepEstimate } from '../../services/sweeps/estimate.ts';
export type { SettingRow, SweepSummary, SweepView, TrialView } from '../../services/sweeps/result.ts';
export type { ServerOffer } from '../../services/tasks/make-served-task.ts';
export type { TaskFiles, TaskSummary } from '../../services/tasks/task-list.ts';
export type { DatasetPreview } from '../../services/text-worker/dataset-tasks.ts';
export type { ImportedFile, IncomingText } from '../../services/text-worker/import-tasks.ts';
export type { CorpusOverview } from '../../services/text-worker/overview-task.ts';
export type { TextEnding } from '../../services/texts/file-types.ts';
export type { HeadingRule } from '../../services/texts/headings.ts';
export type { Keep } from '../../services/texts/merge.ts';
export type { LiveStatus } from '../../services/training/live-status.ts';
export type { Preflight, SampledGroups } from '../../services/training/preflight.ts';
export type { RunNews, RunStanding } from '../../services/training/run-watch.ts';
export type { SignalBudget, SignalSetting } from '../../services/training/signal/run-signal.ts';
export type { StartAdvice } from '../../services/training/start-advice.ts';
export type { Change, Topic } from '../../services/workspace/changes.ts';
export type { FolderEntry, ListedFolder } from '../../services/workspace/host-folders.ts';
export type { JobStatus } from '../../services/workspace/jobs.ts';
export type { Notice } from '../../services/workspace/notices.ts';
export type { SettingField } from '../../services/workspace/setting-fields.ts';
export type { SettingsChange } from '../../services/workspace/settings.ts';
export type { ConversationHeading } from '../../store/conversations.ts';
export type { MetricBucket, StepMetrics } from '../../store/metrics.ts';
export type { QueueKey, QueuePlace } from '../../store/queue.ts';
export type { SampleFilter, SampleOrder } from '../../store/sample-finder.ts';
export type { StepRewards } from '../../store/samples.ts';
export type { TextHeading } from '../../store/texts.ts';
export type { InterleaveRecord } from '../../tasks/interleave/record.ts';
export type { AlignedWord } from '../../text/word-alignment.ts';
export type { DiffRun } from '../../text/word-diff.ts';
export type { ConfigFault } from '../../trainer/config/config.ts';
export type { PageRequest } from '../page-requests.ts';
export type { EngineView } from './engines.ts';
export type { StageSettings } from './stages.ts';
