/** Between what is typed and what a configuration holds. Pure. */

/** A number, null for nothing where that is allowed, else the text itself: the check then says what is wrong with it. */
export function numberFrom(text: string, nullable: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return nullable ? null : '';
  const value = Number(trimmed.replace(',', '.'));
  return Number.isFinite(value) ? value : trimmed;
}

/** A list of numbers, between spaces or commas. */
export function numbersFrom(text: string, nullable: boolean): unknown {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  if (parts.length === 0) return nullable ? null : [];
  return parts.map((part) => numberFrom(part, false));
}

/** A value as a person reads it; `nothing` for null. Small numbers as powers of ten. */
export function worded(value: unknown, nothing = 'none'): string {
  if (value === null || value === undefined) return nothing;
  if (Array.isArray(value)) return value.map((part) => worded(part)).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && value !== 0 && Math.abs(value) < 0.001) return value.toExponential();
  return String(value);
}
