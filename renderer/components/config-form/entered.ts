/** What a form saves: only what was entered in it, so that what another window has saved meanwhile stays. Pure. */
import type { Values } from './sections.ts';

/** The entries that differ from those that the form opened with. */
export function entered<T extends object>(now: T, opened: { readonly [Name in keyof T]?: unknown }): Partial<T> {
  const isOther = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(opened[name as keyof T]);
  return Object.fromEntries(Object.entries(now).filter(isOther)) as Partial<T>;
}

/** The settings that are stored by now, with those that were entered, without those that were reset. */
export function ontoStored(now: Values, opened: Values, stored: Values): Values {
  const kept = Object.entries(stored).filter(([name]) => name in now || !(name in opened));
  return { ...Object.fromEntries(kept), ...entered(now, opened) };
}
