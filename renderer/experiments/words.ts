/** Describes sweeps in words. Pure. */
import type { SettingRow, SweepEstimate, SweepSummary } from '../../main/api/contract/index.ts';
import { formatValue } from '../components/config-form/entry.ts';
import { bytes, counted, duration, number, score } from '../components/format.ts';
import { methodWords } from '../replies/words.ts';

/** A value of a setting: paths by their last part, reply methods by their label. */
export function settingValue(field: string, value: unknown): string {
  if (typeof value !== 'string') return formatValue(value);
  if (field === 'method' && value in methodWords) return methodWords[value as keyof typeof methodWords].label;
  return value.split(/[\\/]/).at(-1) ?? value;
}

/** Whether it compares the methods of the reply system. */
export function isReplyMethods(rows: readonly Pick<SettingRow, 'values'>[]): boolean {
  return rows.every(({ values: { method } }) => typeof method === 'string' && method in methodWords);
}

/** What a setting is called in a sentence. */
function settingName({ values, label }: Pick<SettingRow, 'values' | 'label'>): string {
  const { method, ...others } = values;
  return typeof method === 'string' && method in methodWords && Object.keys(others).length === 0
    ? settingValue('method', method)
    : label;
}

/** "4 settings × 3 seeds"; "4 methods × 3 seeds" where nothing else varies. */
export function shapeInWords({ settings, fields, seeds }: Pick<SweepSummary, 'settings' | 'fields' | 'seeds'>): string {
  return `${counted(settings, fields.join() === 'method' ? 'method' : 'setting')} × ${counted(seeds.length, 'seed')}`;
}

/** "12 of 12 runs, 1 failed". */
export function progressInWords({ over, runs, failed }: Pick<SweepSummary, 'over' | 'runs' | 'failed'>): string {
  return `${number(over)} of ${counted(runs, 'run')}${failed === 0 ? '' : `, ${number(failed)} failed`}`;
}

/** "12 runs, 720 steps: about 14 min, 35 MiB on disk, 600 MiB of memory". */
export function estimateInWords({ runs, steps, seconds, diskBytes, memoryBytes }: SweepEstimate): string {
  return `${counted(runs, 'run')}, ${counted(steps, 'step')}: about ${duration(seconds)}, ${bytes(diskBytes)} on disk, ${bytes(memoryBytes)} of memory`;
}

/** "0.912 ± 0.020"; without an interval the mean alone. */
export function meanInWords({ mean, interval }: Pick<SettingRow, 'mean' | 'interval'>): string {
  if (mean === null) return '–';
  return interval === null ? score(mean) : `${score(mean)} ± ${score(interval.high - interval.mean)}`;
}

/** "beta 0.04: 0.912 ± 0.020", or how many settings share the highest mean. */
export function leaderInWords(leader: SweepSummary['leader']): string {
  if (leader === null) return '–';
  return `${leader.tied > 1 ? `${leader.tied} settings` : settingName(leader)}: ${meanInWords(leader)}`;
}

/** How a setting compares with the leader: "0.031, p = 0.012". */
export function behindInWords({
  leads,
  tied,
  best,
  behind,
}: Pick<SettingRow, 'leads' | 'tied' | 'best' | 'behind'>): string {
  if (best) return 'best';
  if (tied) return 'tied';
  if (leads) return 'leads';
  if (behind === null) return '–';
  const p = behind.pCorrected < 0.001 ? 'p < 0.001' : `p = ${behind.pCorrected.toPrecision(2)}`;
  return `${score(behind.difference.mean)}, ${p}`;
}

/** What the table shows about the best setting, in one sentence; null before there is something to compare. */
export function verdictInWords(rows: readonly SettingRow[]): string | null {
  const leader = rows.find((row) => row.leads);
  if (leader === undefined || rows.length < 2) return null;
  if (leader.best) return `${settingName(leader)} is best: significantly better than every other setting.`;
  const level = rows.filter((row) => row.tied);
  if (level.length === rows.length) return `All ${rows.length} settings have the same mean, ${score(leader.mean)}.`;
  if (level.length > 1) return `${listed(level.map(settingName))} share the highest mean, ${score(leader.mean)}.`;
  const tested = rows.filter((row) => row.behind !== null);
  if (tested.length === 0) return `${settingName(leader)} leads; one seed a setting can't show whether that is chance.`;
  const close = rows.filter((row) => row !== leader && row.behind?.significant !== true).length;
  return `${settingName(leader)} leads, but could be equal to ${close === 1 ? 'one other setting' : `${close} other settings`}: add seeds to tell them apart.`;
}

/** "a, b and c". */
function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** step 30; steps 30, 90. */
export function stepList(steps: readonly number[]): string {
  return `${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}`;
}

/** The table as CSV: one line a run, with the values of its setting. */
export function trialLines(
  fields: readonly string[],
  rows: readonly SettingRow[],
): readonly (readonly (string | number | null)[])[] {
  const head = [...fields, 'seed', 'run', 'state', 'step', 'score', 'setting_mean', 'interval_low', 'interval_high'];
  const lines = rows.flatMap((row) =>
    row.trials.map(({ seed, runId, state, run, score: own }) => [
      ...fields.map((field) => cellOf(row.values[field])),
      ...[seed, runId, state, run?.step ?? null, own?.value ?? null],
      ...[row.mean, row.interval?.low ?? null, row.interval?.high ?? null],
    ]),
  );
  return [head, ...lines];
}

function cellOf(value: unknown): string | number | null {
  if (typeof value === 'number' || typeof value === 'string') return value;
  return value === null || value === undefined ? null : JSON.stringify(value);
}
