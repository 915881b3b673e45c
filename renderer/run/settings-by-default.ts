/** A run's settings, those that someone chose apart from those at their defaults. Pure. */

export type Setting = readonly [field: string, value: unknown];

/** Settings that differ from their default or have none, and the rest; each in its order. */
export function splitByDefault(
  settings: readonly Setting[],
  defaults: ReadonlyMap<string, unknown>,
): readonly [changed: readonly Setting[], usual: readonly Setting[]] {
  const isUsual = ([field, value]: Setting): boolean =>
    defaults.has(field) && JSON.stringify(defaults.get(field)) === JSON.stringify(value);
  return [settings.filter((setting) => !isUsual(setting)), settings.filter(isUsual)];
}
