/** An import in words, and its options as the host takes them. Pure. */

import type { ImportPlan } from '../../main/api/contract/index.ts';
import { beginning } from '../components/beginning.ts';
import { counted, number } from '../components/format.ts';

const LONGEST = 120;

/** A value of a table as one line. */
export function cell(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > LONGEST ? `${beginning(line, LONGEST)} …` : line;
}

/** `5 rows: 2 training records, 2 held out, 1 duplicate dropped` */
export function countsInWords({ rows, leftOut, duplicates, faults, train, test }: ImportPlan['counts']): string {
  const parts = [
    `${counted(train, 'training record')}`,
    `${number(test)} held out`,
    ...(leftOut > 0 ? [`${counted(leftOut, 'row')} left out`] : []),
    ...(duplicates > 0 ? [`${counted(duplicates, 'duplicate')} dropped`] : []),
    ...(faults > 0 ? [`${number(faults)} with faults`] : []),
  ];
  return `${counted(rows, 'row')}: ${parts.join(', ')}`;
}

/** A message in which files are named as the user knows them: where the host keeps them meanwhile says nothing. */
export function withoutFolders(message: string): string {
  return message.replaceAll(/[^\s"]*[\\/](?:braid-import-\w+|\.hub[\\/][^\\/]+)[\\/]/g, '');
}

/** What training and held-out records share; null: nothing. */
export function sharedInWords(
  { overlaps, shared_titles }: NonNullable<ImportPlan['leakage']>,
  heldOut: number,
): string | null {
  if (overlaps.length === 0 && shared_titles.length === 0) return null;
  const whole =
    shared_titles.length === 0
      ? ''
      : `; ${counted(shared_titles.length, 'whole prompt is', 'whole prompts are')} on both sides`;
  return `${number(overlaps.length)} of ${counted(heldOut, 'held-out record')} share words with training records${whole}`;
}

export interface ColumnOption {
  readonly value: string;
  readonly label: string;
}

/** What is found inside columns of objects and lists, in these rows: `answers.text.0`. */
export function insideColumns(rows: ImportPlan['rows']): string[] {
  const found = new Set<string>();
  const visit = (given: unknown, path: string, depth: number): void => {
    const value = fromJson(given);
    const roles = rolesIn(value);
    if (roles.length > 0) for (const role of roles) found.add(`${path}.${role}`);
    else if (typeof value === 'object' && value !== null && depth < DEEPEST) {
      // Of a list the first item: others rarely mean another field.
      const inside = Array.isArray(value) ? value.slice(0, 1).entries() : Object.entries(value);
      for (const [name, item] of inside) visit(item, `${path}.${name}`, depth + 1);
    } else if (depth > 0 && !(typeof value === 'object' && value !== null)) found.add(path);
  };
  for (const row of rows) for (const [name, value] of Object.entries(row)) visit(value, name, 0);
  return [...found].slice(0, MOST_INSIDE);
}

/** Lists and objects that a dataset has as JSON in a text are reached into as well. */
function fromJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

const ROLES: Readonly<Record<string, string>> = { human: 'user', gpt: 'assistant', model: 'assistant' };

/** Who speaks in a conversation, by role and not by place; empty: it isn't one. */
function rolesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const named = value.map((one: { role?: unknown; from?: unknown } | null) => one?.role ?? one?.from);
  if (!named.every((role) => typeof role === 'string')) return [];
  const roles = new Set(named.map((role) => ROLES[role] ?? role));
  return ['system', 'user', 'assistant'].filter((role) => roles.has(role));
}

/** A prompt and its answer in two columns, as a conversation. */
function pairsOf(columns: readonly string[]): string[] {
  const named = (names: readonly string[]) => columns.filter((column) => names.includes(column.toLowerCase()));
  const answers = named(['completion', 'chosen', 'response', 'output', 'answer']);
  return named(['prompt', 'instruction', 'question', 'input']).flatMap((asked) =>
    answers.map((answer) => `${asked}+${answer}`),
  );
}

const DEEPEST = 3;
const MOST_INSIDE = 60;

/** What a field can be mapped to. A number may be the last one of a text, as answers to sums are often given. */
export function columnOptions(columns: readonly string[], type: string, current: string): ColumnOption[] {
  const plain = columns.map((column) => ({ value: column, label: column }));
  const pairs = type === 'messages' ? pairsOf(columns).map((pair) => ({ value: pair, label: pair })) : [];
  const numbers = type === 'number' ? columns.map((column) => lastNumberOf(column)) : [];
  const all = [{ value: '', label: '– none –' }, ...plain, ...pairs, ...numbers];
  // A nested column that was typed on the command line's way.
  return all.some(({ value }) => value === current) ? all : [...all, { value: current, label: current }];
}

function lastNumberOf(column: string): ColumnOption {
  return { value: `${column}:last-number`, label: `last number of ${column}` };
}

/** A dataset's name for a source. */
export function datasetName(source: string): string {
  const [path = ''] = source.replace(/^hf:/, '').split(/[,@]/);
  const parts = path.split('/').filter(Boolean);
  // Of a dataset of the Hub: owner, name and maybe a config.
  const [, name = '', config = ''] = source.startsWith('hf:') ? parts : [];
  const ofHub = ['main', 'default', name, ''].includes(config) ? name : `${name}-${config}`;
  const last = ofHub || (parts.at(-1) ?? 'records');
  const plain = last
    .replace(/\.\w+(?:\.(?:gz|zst))?$/, '')
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '-');
  return beginning(plain, 60) || 'records';
}
