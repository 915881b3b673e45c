/** A setting's value on one line, as in YAML. Pure. */
export function settingText(value: unknown): string {
  if (value === undefined) return '–';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value);
}
