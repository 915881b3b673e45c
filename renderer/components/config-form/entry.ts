/** Converts between typed text and configuration values. Pure. */
import type { ConfigFault, ConfigField } from '../../../main/api/contract/index.ts';

/** A number; null for empty text if allowed; otherwise the text itself, so that validation can report it. */
export function numberFrom(text: string, nullable: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return nullable ? null : '';
  // Thousands for some, a fraction for others: whoever means a fraction writes 1.5 or 1,5.
  if (/^[1-9]\d{0,2}(,\d{3})+$/.test(trimmed)) return trimmed;
  const value = Number(trimmed.replace(',', '.'));
  return Number.isFinite(value) ? value : trimmed;
}

/**
 * What is wrong with a field's value, in plain words: a field for numbers that holds a word asks for a number, where
 * validation speaks of types.
 */
export function faultInWords(kind: ConfigField['input']['kind'], value: unknown, { message, remedy }: Fault): string {
  if (kind === 'number' && typeof value === 'string') return 'Enter a number';
  if (kind === 'numbers' && Array.isArray(value) && value.some((part) => typeof part === 'string'))
    return 'Enter numbers, separated by spaces or commas';
  // Other faults of an empty text say why it can't be empty.
  if (value === '' && message.startsWith('expected a text that is not empty')) return 'Enter a value';
  return remedy === null ? message : `${message} ${remedy}`;
}

type Fault = Pick<ConfigFault, 'message' | 'remedy'>;

/** A list of numbers separated by spaces or commas. */
export function numbersFrom(text: string, nullable: boolean): unknown {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
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
