/** What a training loop hands over between two steps: reports, samples, checkpoints, evaluations, the collapse watch. */
import { dropOldest, type RunProgress, saveCheckpoint } from './checkpoint.ts';
import { watchStep } from './collapse-watch.ts';
import { componentWarnings } from './component-rule.ts';
import { isReinforcement, type TrainConfig } from './config.ts';
import type { Control } from './control.ts';
import { evaluate } from './evaluate.ts';
import type { Metrics, TrainerEvent } from './events.ts';
import { gamingWarning } from './gaming-rule.ts';
import type { SavedGeneration, ScoredGeneration } from './generation.ts';
import type { Phases } from './phases.ts';
import type { Session } from './session.ts';
import { watchSettings } from './watch-settings.ts';

export interface RunIo {
  /** The first step to do, from 0. */
  readonly firstStep: number;
  readonly control: Control;
  readonly phases: Phases;
  emit(event: TrainerEvent): void;
  addTokens(count: number): void;
  /** Whether the completions of this step (from 1) are kept. */
  keepsSamples(step: number): boolean;
  /** The generation that the next steps still use; checkpoints keep it. */
  holdGeneration(generation: ScoredGeneration | null): void;
  restoreGeneration(rescore: (saved: SavedGeneration) => ScoredGeneration): ScoredGeneration | null;
  /** Before the first step: measures the baseline where the run evaluates at all. */
  begin(): void;
  /** Reports a step (from 1), watches for collapse, evaluates and saves where it is due. */
  endStep(step: number, metrics: Metrics): Promise<void>;
  /** Saves and says that the run has ended. */
  finish(step: number, stopped: boolean): Promise<void>;
}

/** Opens the reporting side of a run that stands at `progress`. */
export function openRunIo(
  session: Session,
  progress: RunProgress,
  control: Control,
  phases: Phases,
  emit: (event: TrainerEvent) => void,
): RunIo {
  const { config } = session;
  // One list that grows: copying it at every step would cost more the longer the run.
  const history = [...progress.history];
  let now: RunProgress = { ...progress, history };
  let saved: { readonly step: number; readonly path: string } | null = null;
  let began = performance.now();
  let tokensBefore = progress.tokens;

  async function save(): Promise<string> {
    if (saved?.step === now.step) return saved.path;
    const path = await saveCheckpoint(session, now);
    saved = { step: now.step, path };
    emit({ kind: 'checkpoint', step: now.step, path });
    // An older one may go only after the host was told of this one: a run whose host dies resumes from what it knows.
    await delivered();
    dropOldest(session.start.outputDir, now.step, config.save_total_limit);
    return path;
  }

  function watch(step: number, metrics: Metrics): void {
    const result = watchStep(now.watch, metrics, watchSettings(session.config, session.task));
    now = { ...now, watch: result.state };
    for (const { topic, message, remedy } of result.notices) emit({ kind: 'notice', step, topic, message, remedy });
    for (const { rule, message, remedy } of result.warnings) {
      emit({ kind: 'warning', step, rule, message, remedy });
      if (config.pause_on_collapse) control.requestPause(message);
    }
  }

  function watchReward(step: number): void {
    const warning = gamingWarning(history);
    if (warning !== null) emit({ kind: 'warning', step, rule: 'reward_gaming', ...warning });
    for (const silent of componentWarnings(history))
      emit({ kind: 'warning', step, rule: 'component_silent', ...silent });
  }

  return {
    firstStep: progress.step,
    control: {
      ...control,
      checkIn: async (step) => {
        const answer = await control.checkIn(step);
        // A pause is not part of a step.
        began = performance.now();
        return answer;
      },
    },
    phases,
    emit,
    addTokens: (count) => {
      now = { ...now, tokens: now.tokens + count };
    },
    keepsSamples: (step) => step === 1 || step % config.sample_steps === 0 || step === config.max_steps,
    holdGeneration: (generation) => {
      now = { ...now, generation: generation === null ? null : toSaved(generation) };
    },
    restoreGeneration: (rescore) => (progress.generation === null ? null : rescore(progress.generation)),
    begin: () => {
      if (config.eval_steps > 0 && progress.step === 0) evaluateNow(session, 0, emit);
    },
    endStep: async (step, metrics) => {
      const seconds = (performance.now() - began) / 1000;
      const reported = {
        ...metrics,
        num_tokens: now.tokens,
        tokens_per_second: (now.tokens - tokensBefore) / seconds,
        memory_mb: process.memoryUsage().rss / 2 ** 20,
        ...phases.take(),
        step_time: seconds,
      };
      tokensBefore = now.tokens;
      history.push({ step, ...reported });
      now = { ...now, step };
      emit({ kind: 'step', step, metrics: reported });
      if (isReinforcement(config.method)) {
        watch(step, metrics);
        watchReward(step);
      }
      if (evaluatesAt(step, config)) evaluateNow(session, step, emit);
      if (step % config.save_steps === 0 && step < config.max_steps) await save();
      began = performance.now();
    },
    finish: async (step, stopped) => emit({ kind: 'done', step, path: await save(), stopped }),
  };
}

/** Two turns of the event loop: events leave in the first; in the second the end of a dead host is noticed. */
async function delivered(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function toSaved({ number, completions, oldLogps }: ScoredGeneration): SavedGeneration {
  return { number, completions, oldLogps: oldLogps?.map((row) => Array.from(row)) ?? null };
}

/** The last step always counts: what a run ends with is known, whatever its steps are a multiple of. */
function evaluatesAt(step: number, { eval_steps, max_steps }: Pick<TrainConfig, 'eval_steps' | 'max_steps'>): boolean {
  return eval_steps > 0 && (step % eval_steps === 0 || step === max_steps);
}

/** Held-out records, the same ones every time. */
function evaluateNow(session: Session, step: number, emit: (event: TrainerEvent) => void): void {
  const records = session.evalRecords.slice(0, session.config.eval_records);
  if (records.length === 0) return;
  const options = {
    maxNewTokens: session.maxCompletionLength,
    batchSize: session.config.per_device_train_batch_size,
    onToken: () => emit({ kind: 'alive' }),
  };
  const { metrics, items } = evaluate(session.task, session.policy, records, session.decode, options);
  emit({ kind: 'evaluation', step, metrics, items });
}
