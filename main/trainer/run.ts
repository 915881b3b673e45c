/** One training run from start to end, in any process. */
import { modelParameters } from '../model/model.ts';
import { parameterCount } from '../model/parameter.ts';
import { onPulse } from '../pulse.ts';
import { type OpenBackend, openBackend } from './backend.ts';
import { noProgress, type RunProgress, restoreCheckpoint } from './checkpoint.ts';
import type { TrainerEvent } from './events.ts';
import { trainGrpo } from './grpo.ts';
import type { Control } from './host/control.ts';
import { describeFailure } from './host/failure.ts';
import { openRunIo } from './host/run-io.ts';
import type { RunEstimate, TrainerStart } from './host/start.ts';
import { estimateFromHistory, estimateRun, remaining } from './memory/estimate.ts';
import { openPhases } from './monitor/phases.ts';
import { openSession, type Session } from './session.ts';
import { trainPolychromicSft, trainSft } from './sft.ts';

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
  let backend: OpenBackend | null = null;
  let session: Session | null = null;
  onPulse(() => emit({ kind: 'alive' }));
  try {
    backend = await openBackend({
      backend: start.config.backend,
      threads: start.config.threads,
      kernelsFile: start.kernelsFile,
    });
    session = openSession(start);
    const progress = start.resumeFrom === null ? noProgress() : restoreCheckpoint(start.resumeFrom, session);
    step = progress.step;
    follow({
      kind: 'ready',
      backend: backend.name,
      threads: backend.threads,
      why: backend.why,
      parameters: parameterCount(modelParameters(session.policy.model)),
      trainable: parameterCount(session.parameters),
      maxSteps: start.config.max_steps,
      maxCompletionLength: session.maxCompletionLength,
    });
    // The estimate is synchronous work: the host should know before it that the run has begun.
    await turn();
    const { activationMb } = session.memory;
    follow({ kind: 'estimate', step, activationMb, ...estimateOf(session, progress) });
    // And a first evaluation takes long too.
    await turn();
    const io = openRunIo(
      session,
      progress,
      control,
      openPhases(() => emit({ kind: 'alive' })),
      follow,
    );
    await trainer(start.config.method)(session, io);
  } catch (error) {
    follow({ kind: 'failed', step, ...describeFailure(error) });
  } finally {
    onPulse(null);
    session?.dispose();
    await backend?.close();
  }
}

/** A turn of the event loop, in which events are sent. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The best that is known: the run's own steps, what its pre-flight check found, else a few seconds of its work. */
function estimateOf(session: Session, { step, history }: RunProgress): RunEstimate {
  const { estimate } = session.start;
  const measured = estimateFromHistory(history, session.config, step);
  if (measured !== null) return measured;
  if (estimate === null) return estimateRun(session, step);
  return { ...estimate, ...remaining(estimate.secondsPerStep, session.config, step) };
}

function trainer(method: TrainerStart['config']['method']) {
  switch (method) {
    case 'grpo':
    case 'polychromic-grpo':
      return trainGrpo;
    case 'sft':
      return trainSft;
    case 'polychromic-sft':
      return trainPolychromicSft;
  }
}
