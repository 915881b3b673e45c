/** A training loop's output between two steps: reports, samples, checkpoints, evaluations, the collapse watch. */

import { append } from '../../lists.ts';
import { counted } from '../../text/format.ts';
import { reaches } from '../../text/intervals.ts';
import { QUOTED_REMEDY, quotingInWords } from '../../text/quoted-tokens.ts';
import { UNWRITABLE_REMEDY, unwritableInWords } from '../../text/unwritable.ts';
import type { SavedGeneration, ScoredGeneration } from '../batching/generation.ts';
import { longestTarget, recordsQuoting, targetsBeyond } from '../batching/prompts.ts';
import { isReinforcement, type TrainConfig, totalSteps } from '../config/config.ts';
import { EVALUATION_TIME, evaluatesAt } from '../config/evaluations.ts';
import type { Engine } from '../engine/engine.ts';
import type { Control } from '../loops/control.ts';
import type { RunIo } from '../loops/run-io.ts';
import { gpuMemoryMetrics } from '../memory/device.ts';
import { watchStep } from '../monitor/collapse-watch.ts';
import { componentWarnings } from '../monitor/component-rule.ts';
import { gamingWarning } from '../monitor/gaming-rule.ts';
import type { Phases } from '../monitor/phases.ts';
import { watchSettings } from '../monitor/watch-settings.ts';
import {
  type GroupOutcome,
  MET_TOPIC,
  type Metrics,
  type TrainerEvent,
  WARM_TOPIC,
} from '../protocol/trainer-events.ts';
import { evaluate } from '../rollout/held-out.ts';
import type { Stage } from '../stage/stage.ts';
import { unwritableOf } from '../stage/writable.ts';
import { type RunProgress, saveCheckpoint } from './checkpoint.ts';
import { shortenHistory } from './kept-history.ts';

/** What becomes of completions whose reward failed, as the setting says. */
const HANDLED = {
  stop: 'the run stops (reward_failure is stop)',
  zero: 'they count as 0 (reward_failure is zero)',
  skip_group: 'their groups are skipped (reward_failure is skip_group)',
} as const satisfies Record<TrainConfig['reward_failure'], string>;

/** Opens the reporting side of a run at `progress`. */
export function openRunIo(
  stage: Stage,
  engine: Engine,
  progress: RunProgress,
  control: Control,
  phases: Phases,
  emit: (event: TrainerEvent) => void,
): RunIo {
  const { config } = stage;
  // One growing list: copying it at every step would get slower as the run gets longer.
  const history = [...progress.history];
  let now: RunProgress = { ...progress, history };
  let saved: { readonly step: number; readonly path: string } | null = null;
  let began = phases.now();
  let tokensBefore = progress.tokens;
  let groups: GroupOutcome[] = [];
  let failuresNoticed = progress.history.some(({ reward_failures: share = 0 }) => share > 0);
  let roundingNoticed = progress.history.some(({ reward_rounded: share = 0 }) => share > 0);
  let changeNoticed = false;
  const { goal = null } = stage.start;
  let heldOut = goal?.heldOut ?? null;
  let isMet = false;

  async function save(): Promise<string> {
    if (saved?.step === now.step) return saved.path;
    // Saving is synchronous: what was reported before it leaves first.
    await new Promise((resolve) => setImmediate(resolve));
    const path = await saveCheckpoint(stage, engine, now);
    saved = { step: now.step, path };
    emit({ kind: 'checkpoint', step: now.step, path });
    return path;
  }

  function watch(step: number, metrics: Metrics): void {
    const excused = goal !== null && heldOut !== null && reaches(heldOut, goal.atLeast);
    const result = watchStep(now.watch, metrics, watchSettings(config, stage.task), excused);
    now = { ...now, watch: result.state };
    for (const { topic, message, remedy } of result.notices) emit({ kind: 'notice', step, topic, message, remedy });
    for (const { rule, message, remedy } of result.warnings) {
      emit({ kind: 'warning', step, rule, message, remedy });
      if (config.pause_on_collapse) control.requestPause(message);
    }
  }

  async function evaluateNow(step: number): Promise<void> {
    if (stage.evalRecords.length === 0) return;
    // It is reported with the step that follows, the last one at the end.
    const evaluated = await phases.time('evaluation', () => evaluateHeldOut(stage, engine, step, emit));
    heldOut = evaluated ?? heldOut;
  }

  /** Once: the share of every step is a metric, and each reason stands with its completion. */
  function noticeFailures(step: number, { reward_failures: share = 0 }: Metrics): void {
    if (share === 0 || failuresNoticed) return;
    failuresNoticed = true;
    const message = `The reward failed on ${Math.max(1, Math.round(100 * share))}% of this step's completions; ${HANDLED[config.reward_failure]}.`;
    emit({ kind: 'notice', step, topic: 'reward_failures', message, remedy: 'The stored completions show why.' });
  }

  /** Once, too: such groups count as dead, which their rewards as they are written don't show. */
  function noticeRounded(step: number, { reward_rounded: share = 0 }: Metrics): void {
    if (share === 0 || roundingNoticed) return;
    roundingNoticed = true;
    const message = `Rewards differ by less than float32 can tell apart in ${Math.max(1, Math.round(100 * share))}% of this step's groups, which therefore count as dead.`;
    const remedy = 'Take what all rewards have in common out of them, or make them smaller: float32 has 7 digits.';
    emit({ kind: 'notice', step, topic: 'reward_rounded', message, remedy });
  }

  /** Once: what a resumed run would be given again. */
  function noticeChanged(step: number): void {
    if (changeNoticed || stage.task.environment?.takeChanged?.() !== true) return;
    changeNoticed = true;
    const message =
      "The environment gave another result to the same actions after the same reset: it isn't deterministic.";
    const remedy =
      'The run continues. Resumed after an interruption, it may differ from one that never was interrupted.';
    emit({ kind: 'notice', step, topic: 'environment_changed', message, remedy });
  }

  function noticeQuoting(): void {
    const seen = quotingInWords(recordsQuoting(stage));
    if (seen === null) return;
    const message = `${seen}, which this model uses to structure a chat.`;
    emit({ kind: 'notice', step: 0, topic: 'control_tokens', message, remedy: QUOTED_REMEDY });
  }

  function noticePlainLines(): void {
    if (stage.task.tools === undefined || stage.tokenizer.hasChatTemplate) return;
    const message = 'This model has no chat template: it reads conversations as plain lines, each with who speaks.';
    emit({ kind: 'notice', step: 0, topic: 'plain_lines', message, remedy: 'Use a chat model to train on chats.' });
  }

  /** Of targets: the run was allowed to train on them, or isn't rewarded for them. */
  function noticeUnwritable(): void {
    const found = unwritableOf(stage, stage.task);
    if (found.unknown + found.changed === 0) return;
    const message = `${unwritableInWords(found)}.`;
    emit({ kind: 'notice', step: 0, topic: 'unwritable_words', message, remedy: UNWRITABLE_REMEDY });
  }

  function noticeLongTargets(): void {
    const targets = [...stage.records, ...stage.evalRecords];
    const { maxCompletionLength: limit } = stage;
    const longer = targetsBeyond(targets, limit);
    if (longer === 0) return;
    const message = `${longer} of ${counted(targets.length, 'target')} ${longer === 1 ? 'has' : 'have'} more tokens than max_completion_length (${limit}); the longest has ${longestTarget(targets)}.`;
    const remedy = 'Completions are cut off there: raise it, unless a shorter answer is right too.';
    emit({ kind: 'notice', step: 0, topic: 'long_targets', message, remedy });
  }

  /** A stage that is met before it starts teaches nothing. */
  function noticeMet(): void {
    if (goal?.endIfMet !== true || heldOut === null || !reaches(heldOut, goal.atLeast)) return;
    isMet = true;
    const message = `The held-out score is ${heldOut.toFixed(3)} before training, and the rule requires ${goal.atLeast}.`;
    emit({ kind: 'notice', step: 0, topic: MET_TOPIC, message, remedy: 'The stage counts as met without training.' });
  }

  function noticeUnusedChat(): void {
    for (const { message, remedy } of stage.tokenizer.checkChat())
      emit({ kind: 'notice', step: 0, topic: 'chat_settings', message: `${message}.`, remedy });
  }

  function noticeWarm(step: number): void {
    if (step !== config.warm_up_steps) return;
    const message = `The warm-up of ${counted(step, 'step')} is done: GRPO begins, with a fresh optimiser.`;
    const remedy = 'The held-out scores before and after this step show the share of each.';
    emit({ kind: 'notice', step, topic: WARM_TOPIC, message, remedy });
  }

  function watchReward(step: number): void {
    const warning = gamingWarning(history);
    if (warning !== null) emit({ kind: 'warning', step, rule: 'reward_gaming', ...warning });
    for (const silent of componentWarnings(history, stage.task.rewardNames))
      emit({ kind: 'warning', step, rule: 'component_silent', ...silent });
  }

  return {
    firstStep: progress.step,
    control: {
      ...control,
      checkIn: async (step) => {
        const answer = await control.checkIn(step);
        if (isMet) return 'stop';
        // A pause is not part of a step.
        began = phases.now();
        return answer;
      },
    },
    phases,
    emit,
    addTokens: (count) => {
      now = { ...now, tokens: now.tokens + count };
    },
    addGroups: (more) => {
      append(groups, more);
    },
    // The first step that samples, and the last.
    keepsSamples: (step) =>
      step === config.warm_up_steps + 1 || step % config.sample_steps === 0 || step === totalSteps(config),
    prompts: progress.prompts,
    entropy: progress.entropy,
    holdEntropy: (entropy) => {
      now = { ...now, entropy };
    },
    holdGeneration: (generation, prompts) => {
      now = { ...now, prompts, generation: generation === null ? null : toSaved(generation, config) };
    },
    restoreGeneration: async (restore) => (progress.generation === null ? null : restore(progress.generation)),
    begin: async () => {
      if (progress.step > 0) return;
      noticeQuoting();
      noticePlainLines();
      noticeUnwritable();
      noticeLongTargets();
      noticeUnusedChat();
      if (config.eval_steps === 0) return;
      await evaluateNow(0);
      noticeMet();
    },
    endStep: async (step, metrics) => {
      const seconds = (phases.now() - began) / 1000;
      const tokens = now.tokens - tokensBefore;
      const reported = {
        ...metrics,
        num_tokens: now.tokens,
        // A step on an earlier generation has none, and no speed.
        ...(tokens > 0 && { tokens_per_second: tokens / seconds }),
        memory_mb: process.memoryUsage().rss / 2 ** 20,
        ...gpuMemoryMetrics(),
        ...phases.take(),
        ...stage.task.takeMetrics?.(),
        ...engine.takeMetrics(),
        step_time: seconds,
      };
      tokensBefore = now.tokens;
      history.push({ step, ...reported });
      shortenHistory(history);
      now = { ...now, step };
      emit({ kind: 'step', step, metrics: reported, groups });
      groups = [];
      if (isReinforcement(config.method) && step > config.warm_up_steps) {
        watch(step, metrics);
        noticeFailures(step, metrics);
        noticeRounded(step, metrics);
        noticeChanged(step);
        watchReward(step);
      }
      noticeWarm(step);
      if (evaluatesAt(step, config)) await evaluateNow(step);
      if (savesAt(step, config)) await save();
      began = phases.now();
    },
    // The next stage starts from what this one would have started from.
    finish: async (step, stopped) => {
      const { [EVALUATION_TIME]: seconds } = phases.take();
      const last = history.at(-1);
      const before = last?.step === step ? (last[EVALUATION_TIME] ?? 0) : 0;
      const metrics = seconds === undefined ? {} : { metrics: { [EVALUATION_TIME]: before + seconds } };
      emit({ kind: 'done', step, path: isMet ? null : await save(), stopped, ...metrics });
    },
  };
}

function toSaved(generation: ScoredGeneration, { sync_ref_model }: TrainConfig): SavedGeneration {
  const { number, records, completions, failures, rewards, oldLogps, refLogps } = generation;
  const listed = (rows: ScoredGeneration['oldLogps']) => rows?.map((row) => Array.from(row)) ?? null;
  return {
    number,
    records,
    completions,
    scores: { failures, rewards },
    oldLogps: listed(oldLogps),
    refLogps: sync_ref_model ? listed(refLogps) : null,
  };
}

/** The run's end saves by itself. */
function savesAt(step: number, config: TrainConfig): boolean {
  const { save_steps, warm_up_steps } = config;
  return (step % save_steps === 0 || step === warm_up_steps) && step < totalSteps(config);
}

/** Held-out records, the same ones every time. Returns the score; null: none was scored. */
async function evaluateHeldOut(
  stage: Stage,
  engine: Engine,
  step: number,
  emit: (event: TrainerEvent) => void,
): Promise<number | null> {
  const records = stage.evalRecords.slice(0, stage.config.eval_records);
  const options = {
    maxNewTokens: stage.maxCompletionLength,
    batchSize: stage.config.per_device_train_batch_size,
    onToken: () => emit({ kind: 'alive' }),
  };
  const { metrics, items } = await evaluate({ ...stage, engine }, records, options);
  // What it took isn't the next step's; what it cost is the run's.
  const { reward_cost: judges } = stage.task.takeMetrics?.() ?? {};
  const { 'engine/cost': computing } = engine.takeMetrics();
  const costs = {
    ...(judges !== undefined && { eval_reward_cost: judges }),
    ...(computing !== undefined && { eval_engine_cost: computing }),
  };
  emit({ kind: 'evaluation', step, metrics: { ...metrics, ...costs }, items });
  return metrics[`eval_${stage.task.mainMetric}`] ?? null;
}
