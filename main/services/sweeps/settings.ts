/** The settings of a plan: a grid, or draws from lists and ranges. Pure. */
import { hashString, randomStream } from '../../random.ts';
import type { SettingValues, SweepPlan, SweepRange } from './plan.ts';

/** Draws for one new setting before a small space counts as exhausted. */
const TRIES = 50;

/** Every setting of a plan, each once. `isWhole` says which fields take whole numbers. */
export function settingsOf(
  { search, fields, trials, draw_seed }: Pick<SweepPlan, 'search' | 'fields' | 'trials' | 'draw_seed'>,
  isWhole: (field: string) => boolean,
): readonly SettingValues[] {
  if (Object.keys(fields).length === 0) return [{}];
  return search === 'grid' ? gridOf(fields) : drawsOf(fields, trials, draw_seed, isWhole);
}

/** Every combination, the last field varying fastest. A range in a grid is its two ends. */
function gridOf(fields: SweepPlan['fields']): readonly SettingValues[] {
  const lists = Object.entries(fields).map(
    ([name, values]) => [name, distinct(Array.isArray(values) ? values : [values.min, values.max])] as const,
  );
  return lists.reduce<readonly SettingValues[]>(
    (settings, [name, values]) => settings.flatMap((setting) => values.map((value) => ({ ...setting, [name]: value }))),
    [{}],
  );
}

/** Random search (Bergstra & Bengio 2012): each field drawn independently, each setting at most once. */
function drawsOf(
  fields: SweepPlan['fields'],
  count: number,
  seed: number,
  isWhole: (field: string) => boolean,
): readonly SettingValues[] {
  const settings = new Map<string, SettingValues>();
  for (let draw = 0; settings.size < count && draw < count * TRIES; draw++) {
    const setting = Object.fromEntries(
      Object.entries(fields).map(([name, from]) => {
        const at = randomStream(seed, draw, hashString(name)).next();
        return [name, Array.isArray(from) ? from[Math.floor(at * from.length)] : drawFrom(from, at, isWhole(name))];
      }),
    );
    settings.set(JSON.stringify(setting), setting);
  }
  return [...settings.values()];
}

/** The value at `at` of 0 to 1 of a range; three significant digits suffice to find an order of magnitude. */
function drawFrom({ min, max, scale }: SweepRange, at: number, whole: boolean): number {
  const value = scale === 'log' ? min * (max / min) ** at : min + at * (max - min);
  if (whole) return Math.min(max, Math.max(min, Math.round(value)));
  return Math.min(max, Math.max(min, Number(value.toPrecision(3))));
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** A setting in words: `learning_rate 0.0002, beta 0.04`; of one without any, the configuration's own. */
export function settingLabel(values: SettingValues): string {
  const parts = Object.entries(values).map(([name, value]) => `${name} ${valueText(value)}`);
  return parts.length === 0 ? 'as configured' : parts.join(', ');
}

/** A value of a setting as text, numbers as in the forms and tables; paths by their last part. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return value.split(/[\\/]/).at(-1) ?? value;
  if (typeof value === 'number' && value !== 0 && Math.abs(value) < 0.01) return value.toExponential();
  return value === null ? 'none' : Array.isArray(value) ? value.map(valueText).join(' ') : String(value);
}

/** Longer names are cut off in every table. */
const MOST_CHARACTERS = 80;

/** Names for the runs of each setting, without the seed; where values don't fit or aren't told apart, numbers. */
export function experimentNames(name: string, settings: readonly SettingValues[]): readonly string[] {
  const spelt = settings.map((values) => {
    const words = Object.entries(values).map(([field, value]) => `${field} ${valueText(value)}`);
    return [name, ...words].join(' ').replace(/[^\p{L}\p{M}\p{N}_ .-]+/gu, '-');
  });
  const clear = new Set(spelt).size === spelt.length && spelt.every((text) => text.length <= MOST_CHARACTERS);
  return clear ? spelt : settings.map((_, i) => `${name} ${i + 1}`);
}
