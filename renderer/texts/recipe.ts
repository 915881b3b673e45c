/** The dataset recipe in the form. Kept while the app is open, so that visiting another screen loses nothing. */
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

let kept: Recipe = {
  stages: [10, 25, 50, 100, 200, 500],
  train: 512,
  test: 64,
  seed: 42,
  template: { name: 'process', version: 1 },
  name: '',
  mixed: false,
};

/** The recipe, and a function to change it. */
export function useRecipe(): readonly [Recipe, (change: Partial<Recipe>) => void] {
  const [recipe, setRecipe] = useState(kept);
  const change = (part: Partial<Recipe>): void =>
    setRecipe((before) => {
      kept = { ...before, ...part };
      return kept;
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
