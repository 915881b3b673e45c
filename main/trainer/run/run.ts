/** One training run from start to end, in any process. */
import { heldWords } from '../../model/quantised/settings.ts';
import { onPulse } from '../../pulse.ts';
import { totalSteps } from '../config/config.ts';
import { estimateFromHistory, estimateRun, remaining } from '../local/estimate.ts';
import type { Control } from '../loops/control.ts';
import { trainingLoop } from '../loops/methods.ts';
import { describeFailure } from '../memory/failure.ts';
import { modelsBytes } from '../memory/float32-bytes.ts';
import { openPhases } from '../monitor/phases.ts';
import { openWorkTime } from '../monitor/work-time.ts';
import type { RunEstimate, TrainerStart } from '../protocol/start.ts';
import type { TrainerEvent } from '../protocol/trainer-events.ts';
import { noProgress, type RunProgress, restoreCheckpoint } from './checkpoint.ts';
import { type OpenedEngine, openEngine } from './open-engine.ts';
import { openRunIo } from './open-run-io.ts';

/** Trains according to `start`, reporting everything through `emit`; failures are also reported, never thrown. */
export async function runTraining(
  start: TrainerStart,
  control: Control,
  emit: (event: TrainerEvent) => void,
): Promise<void> {
  let step = 0;
  const follow = (event: TrainerEvent): void => {
    if (event.kind === 'step') step = event.step;
    emit(event);
  };
  let opened: OpenedEngine | null = null;
  const work = openWorkTime();
  const alive = (): void => {
    work.beat();
    emit({ kind: 'alive' });
  };
  onPulse(alive);
  try {
    opened = await openEngine(start);
    const { stage, engine } = opened;
    const progress =
      start.resumeFrom === null ? noProgress() : await restoreCheckpoint(start.resumeFrom, stage, engine);
    step = progress.step;
    const { name, threads, why, parameters, trainable } = engine.describe();
    follow({
      kind: 'ready',
      backend: name,
      threads,
      why: why + precisionNote(opened, name),
      parameters: parameters ?? 0,
      trainable: trainable ?? 0,
      maxSteps: totalSteps(start.config),
      maxCompletionLength: stage.maxCompletionLength,
      ...(stage.sampled && { sampled: stage.sampled }),
    });
    // The estimate is synchronous work: the host should know before it that the run has begun.
    await turn();
    const estimate = estimateOf(opened, progress);
    if (estimate !== null)
      follow({ kind: 'estimate', step, activationMb: stage.memory?.activationMb ?? 0, ...estimate });
    // And a first evaluation takes long too.
    await turn();
    const io = openRunIo(stage, engine, progress, control, openPhases(work.now, alive), follow);
    await trainingLoop(start.config.method)(stage, engine, io);
  } catch (error) {
    follow({ kind: 'failed', step, ...describeFailure(error) });
  } finally {
    onPulse(null);
    work.close();
    await opened?.close();
  }
}

/** The precision of the weights, where it is a choice: 16 bits or fewer, a GPU that has them all, a quantised folder. */
function precisionNote({ stage, session }: OpenedEngine, backend: string): string {
  const precision = stage.memory?.precision;
  const quantisation = session?.policy.model.config.quantisation ?? null;
  if (precision === undefined) return '';
  if (quantisation !== null) return heldWords(quantisation, precision, backend);
  if (precision === 'float32' && backend !== 'webgpu') return '';
  return `; weights in ${precision === 'stored' ? "the file's precision" : precision}`;
}

/** A turn of the event loop, in which events are sent. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The best that is known: the run's own steps, what its pre-flight check found, else a few seconds of its work. */
function estimateOf({ stage, session }: OpenedEngine, { step, history }: RunProgress): RunEstimate | null {
  const { estimate } = stage.start;
  const measured = estimateFromHistory(history, stage.config, step);
  if (measured !== null) return measured;
  if (estimate !== null) return { ...estimate, ...remaining(estimate, stage.config, step) };
  if (session === null) return null;
  const here = estimateRun(session, step, { completionTokens: stage.sampled?.tokens });
  // Reward models are loaded with the first completions, so the process doesn't have them yet.
  return { ...here, memoryBytes: here.memoryBytes + modelsBytes(stage.start.rewardAccess?.models ?? {}) };
}
