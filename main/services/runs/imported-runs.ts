/** Runs that another program trained. */
import { inputError } from '../../errors.ts';
import type { RunRow } from '../../store/runs.ts';

/** The backend of a run that TRL trained. */
export const TRL_BACKEND = 'TRL';

/** The optimiser's state and the place in the data stay where such a run was trained. */
export function refuseImported({ id, backend }: Pick<RunRow, 'id' | 'backend'>): void {
  if (backend !== TRL_BACKEND) return;
  throw inputError(
    'RUN_IMPORTED',
    `Run ${id} was trained by TRL and imported: its optimiser's state isn't here, so it can't be resumed. Its checkpoints are unchanged`,
    'Start a new stage from one of its checkpoints.',
  );
}
