/** The dataset recipe in the form. Kept while the window is open: another screen or a reload loses nothing. */
import { useState } from 'react';

export interface Recipe {
  readonly stages: readonly number[];
  readonly train: number;
  readonly test: number;
  readonly seed: number;
  readonly template: { readonly name: string; readonly version: number };
  readonly name: string;
  /** One dataset of all the word counts together. */
  readonly mixed: boolean;
}

const first: Recipe = {
  stages: [10, 25, 50, 100, 200, 500],
  train: 512,
  test: 64,
  seed: 42,
  template: { name: 'process', version: 1 },
  name: '',
  mixed: false,
};

const STORED = 'braid.recipe';

/** Parses a stored recipe; invalid parts are those of the first. */
export function readRecipe(stored: string | null): Recipe {
  try {
    const { stages, train, test, seed, template, name, mixed } = JSON.parse(stored ?? '{}') as Partial<
      Record<keyof Recipe, unknown>
    >;
    const isTemplate = typeof Object(template).name === 'string' && isCount(Object(template).version);
    return {
      stages: Array.isArray(stages) ? stages.filter(isCount) : first.stages,
      train: isCount(train) ? train : first.train,
      test: isCount(test) ? test : first.test,
      seed: seed === 0 || isCount(seed) ? seed : first.seed,
      template: isTemplate ? (template as Recipe['template']) : first.template,
      name: typeof name === 'string' ? name : first.name,
      mixed: mixed === true,
    };
  } catch {
    return first;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** The recipe, and a function to change it. */
export function useRecipe(): readonly [Recipe, (change: Partial<Recipe>) => void] {
  const [recipe, setRecipe] = useState(() => readRecipe(sessionStorage.getItem(STORED)));
  const change = (part: Partial<Recipe>): void =>
    setRecipe((before) => {
      const next = { ...before, ...part };
      sessionStorage.setItem(STORED, JSON.stringify(next));
      return next;
    });
  return [recipe, change];
}

/** The names of the datasets that a recipe makes. */
export function datasetNames({ name, mixed, stages }: Pick<Recipe, 'name' | 'mixed' | 'stages'>): readonly string[] {
  const lengths = mixed ? [stages.join('-')] : stages;
  return lengths.map((words) => datasetName({ name }, words));
}

/** The name of a stage's dataset: `10words`, or `river-10words`. */
export function datasetName({ name }: Pick<Recipe, 'name'>, words: number | string): string {
  return name === '' ? `${words}words` : `${name}-${words}words`;
}
