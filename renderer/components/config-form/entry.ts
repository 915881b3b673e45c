/** Converts between typed text and configuration values. Pure. */

/** A number; null for empty text if allowed; otherwise the text itself, so that validation can report it. */
export function numberFrom(text: string, nullable: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return nullable ? null : '';
  const value = Number(trimmed.replace(',', '.'));
  return Number.isFinite(value) ? value : trimmed;
}

/** A list of numbers separated by spaces or commas. */
export function numbersFrom(text: string, nullable: boolean): unknown {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  if (parts.length === 0) return nullable ? null : [];
  return parts.map((part) => numberFrom(part, false));
}

/** A value as readable text; `nothing` for null. Small numbers use exponents. */
export function formatValue(value: unknown, nothing = 'none'): string {
  if (value === null || value === undefined) return nothing;
  if (Array.isArray(value)) return value.map((part) => formatValue(part)).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && value !== 0 && Math.abs(value) < 0.001) return value.toExponential();
  return String(value);
}
