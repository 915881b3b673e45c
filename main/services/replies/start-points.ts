/** What the methods start from: the model to fine-tune, and the checkpoint for GRPO. */
import { BraidError, inputError } from '../../errors.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { type ConfigFields, readPreset } from '../config/presets.ts';
import { type ModelEntry, requireModel } from '../models/list.ts';
import { startingModel } from '../models/starting-model.ts';
import { type ReplyRun, type ReplyStart, replyFields } from '../recipes/reply-presets.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { readReplyState, remember } from './stored-state.ts';

type Places = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

export interface StartPoint {
  readonly ref: string;
  readonly name: string;
  /** What experiments that start from it are called after: a checkpoint's run may be renamed. */
  readonly key: string;
  /** Why it can't be used; null: it can. */
  readonly problem: string | null;
}

export interface StartPoints {
  /** null: the presets' own model. */
  readonly model: StartPoint | null;
  /** null: the newest baseline. */
  readonly start: StartPoint | null;
}

/** The current choice, for the screen. */
export function startPoints(places: Places): StartPoints {
  const { model, start } = readReplyState(places.store);
  return { model: tell(places, model), start: tell(places, start) };
}

function tell(places: Places, ref: string | null): StartPoint | null {
  if (ref === null) return null;
  try {
    const entry = requireModel(places, ref);
    return { ref, name: entry.name, key: keyOf(places, entry), problem: null };
  } catch (error) {
    if (error instanceof BraidError) return { ref, name: ref, key: ref, problem: error.message };
    throw error;
  }
}

function keyOf({ store }: Places, { name, run, step }: ModelEntry): string {
  const role = run === null ? undefined : store.runs.get(run.id)?.role;
  return role === undefined ? name : `${role} · step ${step}`;
}

/** Sets the choice; null restores the default. `start` must be a checkpoint. */
export function chooseStart(
  { changes, ...places }: Places & Pick<OpenWorkspace, 'changes'>,
  choice: { readonly model?: string | null | undefined; readonly start?: string | null | undefined },
): void {
  const { model, start } = choice;
  if (typeof model === 'string') requireModel(places, model);
  if (typeof start === 'string' && requireModel(places, start).kind !== 'checkpoint')
    throw inputError('NO_CHECKPOINT', `Expected a checkpoint to start from, got ${start}`, 'Choose it as the model.');
  remember(places.store, { ...(model !== undefined && { model }), ...(start !== undefined && { start }) });
  changes.publish('replies');
}

/** Config fields of the chosen model; none for the presets' own. */
export function modelFields(places: Places): Partial<Pick<TrainConfig, 'model' | 'from_checkpoint'>> {
  const { model } = readReplyState(places.store);
  if (model === null) return {};
  const entry = requireModel(places, model);
  return entry.kind === 'checkpoint' ? startFields(places, entry.folder, '') : { model: entry.model };
}

/** Config fields of a checkpoint to start from, with its own model. */
function startFields({ store, paths }: Places, from_checkpoint: string, otherwise: string) {
  const { model } = startingModel(store, { model: otherwise, from_checkpoint }, paths);
  return { model, from_checkpoint };
}

/** A method's settings for the chosen model, or for a checkpoint to start from. */
export function methodFields(places: Places, run: ReplyRun, start: string | null): ConfigFields {
  const chosen: ReplyStart = modelFields(places);
  const usual = String(chosen.model ?? readPreset(run, places.paths).model);
  const from = start === null ? chosen : startFields(places, start, usual);
  return replyFields(places.store, run, from, places.paths);
}

/** The model of a run, chosen or from the presets: the name of a bundled model, or a folder. */
export function trainedModel(places: Places): string {
  const { model, from_checkpoint } = modelFields(places);
  return from_checkpoint ?? model ?? String(readPreset('baseline', places.paths).model);
}

/** The folder of the checkpoint chosen for GRPO; null: none. */
export function chosenStart(places: Places): string | null {
  const { start } = readReplyState(places.store);
  return start === null ? null : requireModel(places, start).folder;
}

/**
 * The name of a method's runs without the seed. Runs with another starting point are another experiment, so that the
 * seeds of each form a group.
 */
export function experimentName({ model, start }: StartPoints, method: ReplyRun, isReinforced: boolean): string {
  const from = isReinforced && start !== null ? start : model;
  return from === null ? method : `${method} on ${plain(from)}`;
}

/** A name reduced to the characters allowed in a run's name. */
function plain({ key }: StartPoint): string {
  return key.replace(/[^\w .-]+/g, '-').replace(/ ?- ?/g, '-');
}
