/** Changing the curriculum: stages added, changed, moved, removed, and a whole one planned at once. */
import { existsSync } from 'node:fs';
import { inputError } from '../../errors.ts';
import type { DatasetRow } from '../../store/datasets.ts';
import type { Store } from '../../store/index.ts';
import type { NewStage, StageRow } from '../../store/stages.ts';
import { counted } from '../../text/format.ts';
import { configFaults } from '../../trainer/config/config.ts';
import { curriculumWords } from '../datasets/index.ts';
import { type Promotion, promotionSchema } from '../runs/promotion.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { requireStage } from './stage-runs.ts';

/** User input for a stage; omitted fields have defaults or stay unchanged. */
export interface StageEdit {
  readonly name?: string | undefined;
  readonly words?: number | null | undefined;
  readonly datasetId?: number | null | undefined;
  readonly steps?: number | undefined;
  readonly promotion?: Promotion | null | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

/** Steps of a new stage, and of each stage of `npm run story`, whose table shows what the bundled model learns in them. */
export const defaultSteps = 40;
/** A rule that the bundled model then meets. */
export const defaultPromotion: Promotion = promotionSchema.parse({ at_least: 0.9, evaluations: 2 });

/** Adds a stage at the end. Returns its id. */
export function addStage(store: Store, edit: StageEdit): number {
  return store.transaction(() => store.stages.add(editedStage(store, null, edit)));
}

/** Changes a stage; a run in progress keeps its settings. */
export function changeStage(store: Store, stageId: number, edit: StageEdit): void {
  store.transaction(() => store.stages.change(stageId, editedStage(store, stageId, edit)));
}

/** What the edit would make of the stage, or of a new one at the end (null). */
export function editedStage(store: Store, stageId: number | null, edit: StageEdit): NewStage {
  const stage = stageId === null ? blank(store.stages.list().length) : requireStage(store, stageId);
  return checked(store, merge(stage, edit), edit);
}

/** Removes a stage from the curriculum; its runs stay in the history. */
export function removeStage(store: Store, stageId: number): void {
  store.transaction(() => {
    const stage = requireStage(store, stageId);
    if (stage.state === 'running') {
      throw inputError('STAGE_BUSY', `"${stage.name}" is training`, 'Stop its run first.');
    }
    store.stages.remove(stageId);
    renumber(store, store.stages.list());
  });
}

/** Moves a stage to a position in the curriculum, from 0. */
export function moveStage(store: Store, stageId: number, to: number): void {
  store.transaction(() => {
    const stage = requireStage(store, stageId);
    const others = store.stages.list().filter(({ id }) => id !== stageId);
    renumber(store, others.toSpliced(Math.min(Math.max(0, to), others.length), 0, stage));
  });
}

/**
 * Adds a stage for each length of the curriculum and each generated dataset that has none yet, in order of words.
 * Lengths without a dataset are planned too: the page shows what they lack. Returns how many were added.
 */
export function planCurriculum(store: Store): number {
  return store.transaction(() => {
    const before = store.stages.list();
    const planned = new Set(before.map(({ words }) => words));
    const datasets = newestByWords(store);
    const lengths = [...new Set([...curriculumWords, ...datasets.keys()])].filter((words) => !planned.has(words));
    for (const words of lengths) addStage(store, { words, datasetId: datasets.get(words)?.id ?? null });
    const stages = store.stages.list();
    renumber(
      store,
      stages.toSorted((a, b) => (a.words ?? 0) - (b.words ?? 0)),
    );
    return lengths.length;
  });
}

/** The dataset that a stage of that length would use: the newest whose file exists. */
export function newestByWords(store: Pick<Store, 'datasets' | 'folder'>): ReadonlyMap<number, DatasetRow> {
  const found = new Map<number, DatasetRow>();
  for (const dataset of store.datasets.list()) {
    const { words } = dataset;
    if (words === null || !existsSync(fromStoredPath(store.folder, dataset.file))) continue;
    if ((found.get(words)?.madeAt ?? -1) <= dataset.madeAt) found.set(words, dataset);
  }
  return found;
}

function blank(position: number): NewStage {
  const nothing = { name: '', datasetId: null, words: null, config: {} };
  return { ...nothing, position, steps: defaultSteps, promotion: defaultPromotion };
}

function merge(stage: NewStage, edit: StageEdit): NewStage {
  const { name, datasetId, position, words, steps, promotion, config } = stage;
  const given = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
  return { name, datasetId, position, words, steps, promotion, config, ...given };
}

function checked(store: Store, stage: NewStage, edit: StageEdit): NewStage {
  const dataset = stage.datasetId === null ? null : store.datasets.get(stage.datasetId);
  if (dataset === undefined) {
    throw inputError('DATASET_UNKNOWN', `There is no dataset with id ${stage.datasetId}`);
  }
  if (stage.config.num_train_epochs != null)
    throw inputError('BAD_CONFIG', 'A stage is as long as its steps say, not as num_train_epochs', 'Set its steps.');
  const [fault] = configFaults({ ...stage.config, max_steps: stage.steps });
  if (fault !== undefined) {
    throw inputError('BAD_CONFIG', `"${fault.field}": ${fault.message}`, fault.remedy ?? undefined);
  }
  // The dataset's own length takes precedence.
  const words = edit.datasetId === undefined || dataset === null ? stage.words : dataset.words;
  return { ...stage, words, name: stage.name === '' ? defaultName(words, dataset) : stage.name };
}

function defaultName(words: number | null, dataset: DatasetRow | null): string {
  return words === null ? (dataset?.name ?? 'New stage') : counted(words, 'word');
}

function renumber(store: Store, stages: readonly StageRow[]): void {
  stages.forEach((stage, position) => {
    if (stage.position !== position) store.stages.change(stage.id, { ...stage, position });
  });
}
