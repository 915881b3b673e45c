/** What was asked in the playground before, newest first, kept in this browser for each workspace. Pure except for storage. */
import { useMemo, useState } from 'react';
import { type Form, readForm } from './form.ts';
import type { Completed, Lane } from './use-answers.ts';

export interface Asked {
  readonly at: number;
  readonly form: Form;
  /** The mean score of each model's samples, in the order of the form's models; null for one that gave none. */
  readonly scores: readonly (number | null)[];
  /** Each model's samples, in the same order; empty where they are no longer kept. */
  readonly answers: readonly (readonly Completed[])[];
}

const keyOf = (workspace: string): string => `braid.playground.history.${workspace}`;
const KEPT = 20;
/** Characters of all kept answers as JSON: a browser stores about five million in all. */
const ANSWERS_KEPT = 1_000_000;

/** The list with one more entry; asking the same again replaces the earlier one. */
export function withAsked(history: readonly Asked[], asked: Asked): readonly Asked[] {
  const key = JSON.stringify(asked.form);
  return bounded([asked, ...history.filter(({ form }) => JSON.stringify(form) !== key)].slice(0, KEPT));
}

/** Without the answers that don't fit: questions outlast them. */
function bounded(history: readonly Asked[]): readonly Asked[] {
  let room = ANSWERS_KEPT;
  return history.map((asked) => {
    if (asked.answers.length === 0) return asked;
    const size = JSON.stringify(asked.answers).length;
    if (size > room) return { ...asked, answers: [] };
    room -= size;
    return asked;
  });
}

/** Each model's samples that have ended. */
export function answersOf(lanes: readonly (Lane | null)[]): Asked['answers'] {
  return lanes.map((lane) => (lane?.answers ?? []).filter(({ end }) => end !== null));
}

/** The lanes as they were; empty ones where nothing is kept. */
export function lanesOf({ form, answers }: Asked): readonly (Lane | null)[] {
  return form.models.map((model, i) => {
    const own = answers[i] ?? [];
    return own.length === 0 ? null : { model, state: 'done', answers: own, error: null };
  });
}

/** Parses a stored list; invalid entries are left out. */
export function readHistory(stored: string | null): readonly Asked[] {
  try {
    const entries = JSON.parse(stored ?? '[]') as unknown;
    if (!Array.isArray(entries)) return [];
    return (entries as Partial<Asked>[]).flatMap(({ at, form, scores, answers }) =>
      typeof at === 'number' && Array.isArray(scores)
        ? { at, form: readForm(JSON.stringify(form)), scores, answers: readAnswers(answers) }
        : [],
    );
  } catch {
    return [];
  }
}

/** All or none: a part that an earlier version stored otherwise couldn't be shown. */
function readAnswers(stored: unknown): Asked['answers'] {
  const lanes = Array.isArray(stored) ? (stored as unknown[]) : [];
  return lanes.every((lane) => Array.isArray(lane) && lane.every(isCompleted)) ? (lanes as Asked['answers']) : [];
}

function isCompleted(value: unknown): value is Completed {
  const { kind, end, alignment, completion } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!isObject(end)) return false;
  if (kind === 'texts') return isObject(alignment) && Array.isArray(alignment.words) && isObject(alignment.counts);
  return kind === 'record' && typeof completion === 'string' && isObject(end.components);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

export interface History {
  readonly history: readonly Asked[];
  add(asked: Asked): void;
  clear(): void;
}

/** By the path of the workspace; while that isn't known, the list is kept in memory. */
export function useHistory(workspace: string | undefined): History {
  const stored = useMemo(
    () => (workspace === undefined ? [] : readHistory(localStorage.getItem(keyOf(workspace)))),
    [workspace],
  );
  const [changed, setChanged] = useState<readonly Asked[] | null>(null);
  const add = (asked: Asked): void =>
    setChanged((before) => {
      const next = withAsked(before ?? stored, asked);
      try {
        if (workspace !== undefined) localStorage.setItem(keyOf(workspace), JSON.stringify(next));
      } catch {
        // Long texts exceed the storage quota: the list is kept in memory until the page is reloaded.
      }
      return next;
    });
  const clear = (): void => {
    if (workspace !== undefined) localStorage.removeItem(keyOf(workspace));
    setChanged([]);
  };
  return { history: changed ?? stored, add, clear };
}
