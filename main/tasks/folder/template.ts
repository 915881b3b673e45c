/** Texts with {fields}: a prompt, a message, a target. */

const PLACEHOLDER = /\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}/g;

/** The fields that a template names, each once. `{{name}}` isn't a field but the text `{name}`. */
export function fieldsIn(template: string): string[] {
  return [...new Set(Array.from(template.matchAll(PLACEHOLDER), ([, , field]) => field ?? ''))].filter(Boolean);
}

/** A template with its fields filled in, once and verbatim, even if they contain braces. */
export function fillIn(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(PLACEHOLDER, (_, literal: string | undefined, field: string) =>
    literal === undefined ? shownField(values[field]) : `{${literal}}`,
  );
}

/** A field as it stands in a text: lists and objects as JSON, nothing for an optional field that a record lacks. */
export function shownField(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
