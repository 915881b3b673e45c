/** The configuration that the history keeps of a run. */

import { storedObject } from '../../store/json.ts';
import type { RunRow } from '../../store/runs.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import { withNamesHere } from '../../trainer/config/trl-names.ts';

type Saved = Pick<RunRow, 'id' | 'configJson'>;

/** Its fields as they were saved, not checked: another version may have written them. */
export function savedFields({ id, configJson }: Saved): Readonly<Partial<Record<keyof TrainConfig, unknown>>> {
  return withNamesHere(storedObject(configJson, `the configuration of run ${id}`));
}

/** The whole configuration, checked. */
export function savedConfig(run: Saved, origin = `run ${run.id}`): TrainConfig {
  return parseConfig(savedFields(run), origin);
}
