/** Differences between the saved configurations of runs. Pure. */
import { configFields, fieldMeta } from '../../trainer/config/config.ts';

/** One field: a value per run, in the order of the runs. */
export interface ConfigDifference {
  readonly field: string;
  /** Its description; null for a field of another version. */
  readonly meaning: string | null;
  readonly unit: string | null;
  /** undefined if a run's configuration has no such field. */
  readonly values: readonly unknown[];
}

/** The fields whose values differ, in the order of the configuration. */
export function diffConfigs(configs: readonly Readonly<Record<string, unknown>>[]): readonly ConfigDifference[] {
  const known = configFields.filter((field) => configs.some((config) => field in config)) as readonly string[];
  const others = [...new Set(configs.flatMap((config) => Object.keys(config)))].filter((name) => !known.includes(name));
  return [...known, ...others].flatMap((field) => {
    const values = configs.map((config) => config[field]);
    if (new Set(values.map((value) => JSON.stringify(value))).size < 2) return [];
    return [{ field, values, ...described(field) }];
  });
}

function described(field: string): Pick<ConfigDifference, 'meaning' | 'unit'> {
  const known = configFields.find((name) => name === field);
  if (known === undefined) return { meaning: null, unit: null };
  const { doc, unit } = fieldMeta(known);
  return { meaning: doc, unit: unit ?? null };
}
