/**
 * The KL reference and an adapter's base are read again when a run is resumed: with other weights than it started from
 * (a model that was replaced, or a bundled one of another version) it would be another run.
 */
import { inputError } from '../../errors.ts';
import { parameterShapes } from '../../model/model.ts';
import { changesReference } from '../config/config.ts';
import { notedWeights } from '../policy/starting-weights.ts';
import type { Session } from './session.ts';

type StartedSession = Pick<Session, 'start' | 'startingModel' | 'policy' | 'reference'>;

/** Refuses to resume `folder` on other weights than the run started from, where they are still read. */
export function checkStartingModel(folder: string, { start, startingModel, policy, reference }: StartedSession): void {
  const noted = notedWeights(folder);
  const isSame =
    noted === null
      ? reference === null || changesReference(start.config) || shapesOf(policy) === shapesOf(reference)
      : JSON.stringify(noted) === JSON.stringify(startingModel);
  if (isSame) return;
  const used = policy.adapter === null ? 'its KL reference' : "its adapter's base";
  throw inputError(
    'OTHER_MODEL',
    `${folder}: the model that the run started from, ${start.config.from_checkpoint ?? start.config.model}, has other weights now; as ${used} they would make it another run`,
    'Put the model back as it was (a bundled one changes with the version of Braid), or start a new run from the checkpoint.',
  );
}

function shapesOf({ model }: Session['policy']): string {
  return JSON.stringify([...parameterShapes(model.config)]);
}
