/** Texts with {fields}: a prompt, a message, a target. */
import { inputError } from '../../errors.ts';

/** A field's name, in any script. */
export const FIELD_NAME = '[\\p{ID_Start}_]\\p{ID_Continue}*';

const PLACEHOLDER = new RegExp(`\\{\\{(${FIELD_NAME})\\}\\}|\\{(${FIELD_NAME})\\}`, 'gu');

/** The fields that a template names, each once. `{{name}}` isn't a field but the text `{name}`. */
export function fieldsIn(template: string): string[] {
  return [...new Set(Array.from(template.matchAll(PLACEHOLDER), ([, , field]) => field ?? ''))].filter(Boolean);
}

/** Whether a template doubles a brace that isn't one of `{{name}}`, as Python's format strings do: both of them stay. */
export function doublesBraces(template: string): boolean {
  return new RegExp(`\\{\\{(?!${FIELD_NAME}\\}\\})`, 'u').test(template);
}

/** What Python's and other templates read of a field, and this one leaves as it is: `{meta.key}`, `{list[0]}`, `{name }`. */
const FOREIGN = new RegExp(`\\{\\s*(${FIELD_NAME})(?:\\s*|[.[][^{}\\s]*|![rsa]|:[^{}\\s]+)\\}`, 'gu');

/** Places of a template that look like one of these fields and stay text. */
export function foreignPlaces(template: string, fields: readonly string[]): string[] {
  return Array.from(template.matchAll(FOREIGN), ([place, field = '']) => ({ place, field }))
    .filter(({ place, field }) => fields.includes(field) && place !== `{${field}}`)
    .map(({ place }) => place);
}

/** Characters of a text: far beyond what a model reads. */
const LONGEST = 16_000_000;

/** A template with its fields filled in, once and verbatim, even if they contain braces. */
export function fillIn(template: string, values: Readonly<Record<string, unknown>>): string {
  let left = LONGEST;
  return template.replace(PLACEHOLDER, (_, literal: string | undefined, field: string) => {
    if (literal !== undefined) return `{${literal}}`;
    const text = shownField(Object.hasOwn(values, field) ? values[field] : undefined);
    left -= text.length;
    if (left < 0)
      throw inputError(
        'TEXT_TOO_LONG',
        `expected at most ${LONGEST} characters of text with {${field}} in it, got more`,
      );
    return text;
  });
}

/** A template without the line breaks at its end, which a block of YAML has; what a record's field ends in is kept. */
export function withoutEnd(template: string): string {
  let end = template.length;
  while (template[end - 1] === '\n' || template[end - 1] === '\r') end--;
  return template.slice(0, end);
}

/** A field as it stands in a text: lists and objects as JSON, nothing for an optional field that a record lacks. */
export function shownField(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
