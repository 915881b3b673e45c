/** One training run from start to end, in whatever process it lives. */
import { modelParameters } from '../model/model.ts';
import { parameterCount } from '../model/parameter.ts';
import { type OpenBackend, openBackend } from './backend.ts';
import { noProgress, restoreCheckpoint } from './checkpoint.ts';
import type { Control } from './control.ts';
import { estimateRun } from './estimate.ts';
import type { TrainerEvent } from './events.ts';
import { describeFailure } from './failure.ts';
import { trainGrpo } from './grpo.ts';
import { openPhases } from './phases.ts';
import { openRunIo } from './run-io.ts';
import { openSession, type Session } from './session.ts';
import { trainPolychromicSft, trainSft } from './sft.ts';
import type { TrainerStart } from './start.ts';

/** Trains as `start` says, telling all through `emit`; a failure is told too, never thrown. */
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
    follow({ kind: 'estimate', step, ...estimateRun(session, step) });
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
    session?.dispose();
    await backend?.close();
  }
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
