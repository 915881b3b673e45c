/** What names may be, for fields that say so while one types; the host checks them again. */

export const DATASET_NAME_RULE = 'Letters, digits, dots, dashes and underscores; a letter or digit first';

/** An empty one is for the form to judge. */
export function datasetNameFits(name: string): boolean {
  return name === '' || (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,59}$/u.test(name) && !/\.test$|\.$/.test(name));
}

export const MODEL_NAME_RULE = 'Letters, digits, dots, dashes and underscores: it becomes a folder';

export function modelNameFits(name: string): boolean {
  return name === '' || (/^\w[\w.-]*$/.test(name) && !name.endsWith('.'));
}
