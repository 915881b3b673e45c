/** What the model that is likely to be trained can't write of a new dataset: said before anybody trains on it. */
import { BraidError } from '../../errors.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { UNWRITABLE_REMEDY, unwritableInWords } from '../../text/unwritable.ts';
import { unwritableForModel } from '../../trainer/stage/writable.ts';

export interface KnownModel {
  /** As the user knows it. */
  readonly name: string;
  readonly folder: string;
}

/** Records that are checked: a share needs no more. */
const MOST = 1000;

/** What to say of words that a model's tokenizer can't write; null: it can write all, or isn't known. */
export function unwritableWarning(
  model: KnownModel | null | undefined,
  task: Task,
  records: readonly TaskRecord[],
): string | null {
  if (model == null) return null;
  const every = Math.max(1, Math.ceil(records.length / MOST));
  const some = records.filter((_, i) => i % every === 0);
  try {
    const seen = unwritableInWords(unwritableForModel(model.folder, task, some));
    return seen === null ? null : `With the model ${model.name}: ${seen}. ${UNWRITABLE_REMEDY}`;
  } catch (error) {
    // A model that can't be read is a finding of the run's own check.
    if (error instanceof BraidError) return null;
    throw error;
  }
}
