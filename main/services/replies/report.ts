/** The report of a comparison, read from its folder: numbers, figures, data. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import type { numbersOf } from '../comparisons/sampled/write.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { readMemory } from './memory.ts';

export interface ReportView {
  readonly folder: string;
  readonly at: number;
  readonly numbers: ReturnType<typeof numbersOf>;
  /** In the folder: report.md, figures/…svg, data/…csv, comparison.json, completions.jsonl. */
  readonly files: readonly string[];
}

/** The newest report; null if there is none, or its folder is gone. */
export function replyReport({ store, workspace }: Pick<OpenWorkspace, 'store' | 'workspace'>): ReportView | null {
  const { report } = readMemory(store);
  if (report === null) return null;
  const folder = fromStoredPath(workspace.root, report.folder);
  const numbers = join(folder, 'comparison.json');
  if (!existsSync(numbers)) return null;
  const inside = (part: string, ending: string): string[] =>
    readdirSync(join(folder, part))
      .filter((file) => file.endsWith(ending))
      .sort((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b))
      .map((file) => `${part}/${file}`);
  return {
    ...{ folder, at: report.at },
    numbers: JSON.parse(readFileSync(numbers, 'utf8')) as ReportView['numbers'],
    files: [
      ...['report.md', 'comparison.json', 'completions.jsonl'],
      ...inside('figures', '.svg'),
      ...inside('data', '.csv'),
    ],
  };
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
  if (report?.files.includes(file)) return readFileSync(join(report.folder, file), 'utf8');
  throw inputError('FILE_UNKNOWN', `Expected a file of the newest report, got "${file}"`);
}
