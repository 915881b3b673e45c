/** Tables as CSV files. Pure. */

export type CsvCell = string | number | null;

/** One line for each row, ended as RFC 4180 says. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** A spreadsheet would take a name that starts with = + - or @ for a formula. */
function cell(value: CsvCell): string {
  if (typeof value !== 'string') return value === null || Number.isNaN(value) ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
