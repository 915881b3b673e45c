/**
 * CSV by RFC 4180: a field with a comma, a quotation mark or a line break is quoted. Text that a spreadsheet would run as
 * a formula gets an apostrophe in front, since titles and completions are untrusted.
 */

/** Rows as text. A non-finite number is an empty field. */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

function field(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const text = isFormula(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `-0.5` is a number, not a formula. */
function isFormula(text: string): boolean {
  return /^\s*[=+\-@]/.test(text) && Number.isNaN(Number(text));
}
