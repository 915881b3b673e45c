/** CSV as RFC 4180 has it: a field with a comma, a quotation mark or a line break stands in quotation marks. */

/** Rows as text. A number that is not finite is an empty field. */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

function field(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  return /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
