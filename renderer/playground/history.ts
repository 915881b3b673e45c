/** What was asked in the playground before, newest first, kept in this browser. Pure except for storage. */
import { useState } from 'react';
import { type Form, readForm } from './form.ts';

export interface Asked {
  readonly at: number;
  readonly form: Form;
  /** The mean score of each model's samples, in the order of the form's models; null for one that gave none. */
  readonly scores: readonly (number | null)[];
}

const STORED = 'braid.playground.history';
const KEPT = 20;

/** The list with one more entry; asking the same again replaces the earlier one. */
export function withAsked(history: readonly Asked[], asked: Asked): readonly Asked[] {
  const key = JSON.stringify(asked.form);
  return [asked, ...history.filter(({ form }) => JSON.stringify(form) !== key)].slice(0, KEPT);
}

/** Parses a stored list; invalid entries are left out. */
export function readHistory(stored: string | null): readonly Asked[] {
  try {
    const entries = JSON.parse(stored ?? '[]') as unknown;
    if (!Array.isArray(entries)) return [];
    return (entries as Partial<Asked>[]).flatMap(({ at, form, scores }) =>
      typeof at === 'number' && Array.isArray(scores) ? { at, form: readForm(JSON.stringify(form)), scores } : [],
    );
  } catch {
    return [];
  }
}

export interface History {
  readonly history: readonly Asked[];
  add(asked: Asked): void;
  clear(): void;
}

export function useHistory(): History {
  const [history, setHistory] = useState(() => readHistory(localStorage.getItem(STORED)));
  const add = (asked: Asked): void =>
    setHistory((before) => {
      const next = withAsked(before, asked);
      try {
        localStorage.setItem(STORED, JSON.stringify(next));
      } catch {
        // Long texts exceed the storage quota: the list is kept in memory until the page is reloaded.
      }
      return next;
    });
  const clear = (): void => {
    localStorage.removeItem(STORED);
    setHistory([]);
  };
  return { history, add, clear };
}
