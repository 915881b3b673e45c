/** What the methods start from: the model that is fitted, and the checkpoint that reinforcement begins with. */
import { BraidError, inputError } from '../../errors.ts';
import type { TrainConfig } from '../../trainer/config.ts';
import type { App } from '../app.ts';
import { requireModel } from '../model-list.ts';
import { readPreset } from '../presets.ts';
import type { ReplyRun } from '../reply-demo.ts';
import { readMemory, remember } from './memory.ts';

type Places = Pick<App, 'store' | 'workspace' | 'paths'>;

export interface StartPoint {
  readonly ref: string;
  readonly name: string;
  /** Why it can't be used any more; null: it can. */
  readonly problem: string | null;
}

export interface StartPoints {
  /** null: the presets' own model. */
  readonly model: StartPoint | null;
  /** null: the newest baseline. */
  readonly start: StartPoint | null;
}

/** What was chosen, told for the screen. */
export function startPoints(places: Places): StartPoints {
  const { model, start } = readMemory(places.store);
  return { model: tell(places, model), start: tell(places, start) };
}

function tell(places: Places, ref: string | null): StartPoint | null {
  if (ref === null) return null;
  try {
    return { ref, name: requireModel(places, ref).name, problem: null };
  } catch (error) {
    if (error instanceof BraidError) return { ref, name: ref, problem: error.message };
    throw error;
  }
}

/** Chooses; null goes back to what is usual. A checkpoint to start from must be one. */
export function chooseStart(
  { changes, ...places }: Places & Pick<App, 'changes'>,
  choice: { readonly model?: string | null | undefined; readonly start?: string | null | undefined },
): void {
  const { model, start } = choice;
  if (typeof model === 'string') requireModel(places, model);
  if (typeof start === 'string' && requireModel(places, start).kind !== 'checkpoint')
    throw inputError('NO_CHECKPOINT', `Expected a checkpoint to start from, got ${start}`, 'Choose it as the model.');
  remember(places.store, { ...(model !== undefined && { model }), ...(start !== undefined && { start }) });
  changes.publish('replies');
}

/** Fields of a run that fits the chosen model; none for the presets' own. */
export function modelFields(places: Places): Partial<TrainConfig> {
  const { model } = readMemory(places.store);
  if (model === null) return {};
  const entry = requireModel(places, model);
  return entry.kind === 'checkpoint' ? { from_checkpoint: entry.folder } : { model: entry.model };
}

/** What a run of the chosen model, or of the presets' own, trains: the name of a bundled model, or a folder. */
export function trainedModel(places: Places): string {
  const { model, from_checkpoint } = modelFields(places);
  return from_checkpoint ?? model ?? String(readPreset('baseline', places.paths).model);
}

/** The folder of the checkpoint that was chosen for reinforcement; null: none was. */
export function chosenStart(places: Places): string | null {
  const { start } = readMemory(places.store);
  return start === null ? null : requireModel(places, start).folder;
}

/**
 * What runs of a method are called before their seed: runs that start from something else are another experiment, and
 * the seeds of each stay a group.
 */
export function experimentName({ model, start }: StartPoints, method: ReplyRun, isReinforced: boolean): string {
  const from = isReinforced && start !== null ? start : model;
  return from === null ? method : `${method} on ${plain(from)}`;
}

/** As much of a name as a run's may hold. */
function plain({ name }: StartPoint): string {
  return name.replace(/[^\w .-]+/g, '-').replace(/ ?- ?/g, '-');
}
