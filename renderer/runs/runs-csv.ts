/** The list of runs as CSV. Pure. */
import type { RunRowView } from './run-rows.ts';

const columns: readonly (readonly [header: string, value: (row: RunRowView) => string | number | null])[] = [
  ['id', ({ id }) => id],
  ['name', ({ name }) => name],
  ['state', ({ state }) => state],
  ['method', ({ method }) => method],
  ['model', ({ model }) => model],
  ['dataset', ({ dataset }) => dataset],
  ['step', ({ step }) => step],
  ['max_steps', ({ maxSteps }) => maxSteps],
  ['reward', ({ reward }) => reward],
  ['held_out', ({ heldOut }) => heldOut],
  ['baseline', ({ baseline }) => baseline],
  ['gain', ({ gain }) => gain],
  ['created_at', ({ createdAt }) => new Date(createdAt).toISOString()],
];

/** One line for each row, in their order. */
export function runsCsv(rows: readonly RunRowView[]): string {
  const lines = [columns.map(([header]) => header), ...rows.map((row) => columns.map(([, value]) => cell(value(row))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

/** A spreadsheet would take a name that starts with = + - or @ for a formula. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null || Number.isNaN(value) ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
