/** The report of a comparison, read from its folder: numbers, figures, data. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { parseCsv } from '../../io/csv-rows.ts';
import { readRegular } from '../../io/read-file.ts';
import type { numbersOf } from '../comparisons/sampled/write.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { readReplyState } from './stored-state.ts';

export type ReportNumbers = ReturnType<typeof numbersOf>;

export interface ReportView {
  readonly folder: string;
  readonly at: number;
  readonly numbers: ReportNumbers;
  /** In the folder: report.md, figures/…svg, data/…csv, comparison.json, completions.jsonl. */
  readonly files: readonly string[];
  /** The data of the figures, for charts. */
  readonly charts: readonly ChartData[];
}

/** The data of one figure: a heading, then rows in the order of its models. */
export interface ChartData {
  /** As its files: `training_reward`. */
  readonly name: string;
  readonly head: readonly string[];
  /** Numbers where a cell is one; null for an empty cell. */
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** The newest report; null if there is none, or its folder is gone. */
export function replyReport({ store, workspace }: Pick<OpenWorkspace, 'store' | 'workspace'>): ReportView | null {
  const { report } = readReplyState(store);
  if (report === null) return null;
  return reportIn(fromStoredPath(workspace.root, report.folder), report.at);
}

/** The report that `braid compare` or the app wrote into a folder at this time; null if there is none. */
export function reportIn(folder: string, at: number): ReportView | null {
  const numbers = join(folder, 'comparison.json');
  if (!existsSync(numbers)) return null;
  const inside = (part: string, ending: string): string[] =>
    readdirSync(join(folder, part))
      .filter((file) => file.endsWith(ending))
      .sort((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b, 'en'))
      .map((file) => `${part}/${file}`);
  return {
    folder,
    at,
    numbers: JSON.parse(readRegular(numbers).toString('utf8')) as ReportView['numbers'],
    charts: inside('data', '.csv').map((file) => chartData(folder, file)),
    files: [
      ...['report.md', 'comparison.json', 'completions.jsonl'],
      ...inside('figures', '.svg'),
      ...inside('data', '.csv'),
    ],
  };
}

function chartData(folder: string, file: string): ChartData {
  const [head, ...rows] = parseCsv(readRegular(join(folder, file)).toString('utf8'));
  return {
    name: basename(file, '.csv'),
    head: head?.fields ?? [],
    rows: rows.map(({ fields }) => fields.map(cellOf)),
  };
}

function cellOf(field: string): string | number | null {
  if (field === '' || field === 'NaN') return null;
  const number = Number(field);
  return Number.isFinite(number) ? number : field;
}

/** Results first, then the training curves. */
const ORDER = ['pass_at_k', 'measures', 'training_reward', 'training_diversity', 'training_kl', 'training_loss'];

function rankOf(file: string): number {
  const place = ORDER.indexOf(file.replace(/\.\w+$/, ''));
  return place < 0 ? ORDER.length : place;
}

/** The text of one of the report's files. */
export function reportFile(app: Pick<OpenWorkspace, 'store' | 'workspace'>, file: string): string {
  const report = replyReport(app);
  if (report?.files.includes(file)) return readRegular(join(report.folder, file)).toString('utf8');
  throw inputError('FILE_UNKNOWN', `Expected a file of the newest report, got "${file}"`);
}
