/** Converts between typed text and configuration values. Pure. */
import type { ConfigFault, ConfigField } from '../../../main/api/contract/index.ts';
import { readNumber } from '../typed-number.ts';

/** A number; null for empty text if allowed; otherwise the text itself, so that validation can report it. */
export function numberFrom(text: string, nullable: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return nullable ? null : '';
  return readNumber(trimmed) ?? trimmed;
}

/**
 * What is wrong with a field's value, in plain words: a field for numbers that holds a word asks for a number, where
 * validation speaks of types.
 */
export function faultInWords(kind: ConfigField['input']['kind'], value: unknown, { message, remedy }: Fault): string {
  if (kind === 'number' && typeof value === 'string') return 'Enter a number, such as 1000 or 0.5';
  if (kind === 'numbers' && Array.isArray(value) && value.some((part) => typeof part === 'string'))
    return 'Enter numbers such as 0.5, separated by spaces or commas';
  // Other faults of an empty text say why it can't be empty.
  if (value === '' && message.startsWith('expected a text that is not empty')) return 'Enter a value';
  return remedy === null ? message : `${message} ${remedy}`;
}

type Fault = Pick<ConfigFault, 'message' | 'remedy'>;

/**
 * The parts of a list with spaces, commas or semicolons between. Commas inside of all parts, as in `0,5 0,25`, or beside
 * semicolons are decimal marks. Of `0,5 1` nobody knows: it stays one text, for validation.
 */
export function listParts(text: string): string[] {
  const parts = text.split(/,?[\s;]+/).flatMap((part) => part.replace(/^,|,$/g, '') || []);
  if (text.includes(';') || (parts.length > 1 && parts.every((part) => /,\d+$/.test(part)))) return parts;
  if (/\d,\d/.test(text) && parts.length > 1 && !/,\s/.test(text)) return [text.trim()];
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

/** A list of numbers. */
export function numbersFrom(text: string, nullable: boolean): unknown {
  const parts = listParts(text);
  if (parts.length === 0) return nullable ? null : [];
  return parts.map((part) => numberFrom(part, false));
}

/** Texts typed as a JSON list; anything else is one text. */
export function textsFrom(text: string): unknown {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [text];
  } catch {
    return [text];
  }
}

/** Variables typed as `name=value` with commas between; what can't be one stays text, so that validation reports it. */
export function variablesFrom(text: string): unknown {
  const parts = text.split(',').flatMap((part) => part.trim() || []);
  const pairs = parts.map((part) => /^(\w+)\s*=\s*(.+)$/.exec(part));
  if (pairs.includes(null)) return text;
  return Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], variableFrom(pair[2] ?? '')]])));
}

function variableFrom(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A value as readable text; `nothing` for null. Small numbers use exponents. */
export function formatValue(value: unknown, nothing = 'none'): string {
  if (value === null || value === undefined) return nothing;
  if (Array.isArray(value)) return value.map((part) => formatValue(part)).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([name, part]) => `${name}=${part}`)
        .join(', ') || nothing
    );
  if (typeof value === 'number' && value !== 0 && Math.abs(value) < 0.01) return value.toExponential();
  return String(value);
}
