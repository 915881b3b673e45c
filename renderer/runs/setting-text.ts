/** A setting's value as YAML would have it, in one line. Pure. */
export function settingText(value: unknown): string {
  if (value === undefined) return '–';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value);
}
