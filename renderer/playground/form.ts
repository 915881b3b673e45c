/** The Playground form, kept while the window is open. Pure except for storage. */
import { useCallback, useState } from 'react';

/** Where the prompt is from: two texts, a record of a task, or what is said in a chat. */
export type Mode = (typeof MODES)[number];

const MODES = ['texts', 'record', 'chat'] as const;

/** Which records of a task; `datasetId` null: its own. */
export interface RecordsFrom {
  readonly datasetId: number | null;
  readonly side: 'train' | 'test';
}

export interface Form {
  readonly mode: Mode;
  readonly a: string;
  readonly b: string;
  /** Words per text; null for all. */
  readonly words: number | null;
  /** Name and version, as in the select; null for the built-in one. */
  readonly template: string | null;
  /** Name of the task; '' if none is selected. */
  readonly task: string;
  /** Null for its first records. */
  readonly from: RecordsFrom | null;
  /** Which record, from 0. */
  readonly index: number;
  readonly temperature: number;
  readonly seed: number;
  /** Completions of each model, with seeds counting up from `seed`; greedy ones would all be the same. */
  readonly samples: number;
  /** In tokens; null to derive it from the target. */
  readonly maxTokens: number | null;
  /** Texts that end a completion; empty: those that a model was trained with. */
  readonly stop: readonly string[];
  /** Model references, one per lane; '' if none is selected. */
  readonly models: readonly string[];
}

export const MAX_LANES = 4;
export const MAX_SAMPLES = 16;
const MAX_STOPS = 8;

export const emptyForm: Form = {
  mode: 'texts',
  task: '',
  from: null,
  index: 0,
  a: '',
  b: '',
  words: null,
  template: null,
  temperature: 0,
  seed: 42,
  samples: 1,
  maxTokens: null,
  stop: [],
  models: ['', ''],
};

const STORED = 'braid.playground';

/** Parses a stored form; invalid parts fall back to the empty form. */
export function readForm(stored: string | null): Form {
  try {
    const { a, b, words, template, temperature, seed, samples, maxTokens, models, ...own } = JSON.parse(
      stored ?? '{}',
    ) as Partial<Record<keyof Form, unknown>>;
    const texts = Array.isArray(models) ? models.filter((ref) => typeof ref === 'string').slice(0, MAX_LANES) : [];
    return {
      mode: MODES.find((mode) => mode === own.mode) ?? 'texts',
      task: typeof own.task === 'string' ? own.task : '',
      from: isFrom(own.from) ? own.from : null,
      index: Number.isSafeInteger(own.index) && (own.index as number) >= 0 ? (own.index as number) : 0,
      a: typeof a === 'string' ? a : '',
      b: typeof b === 'string' ? b : '',
      words: typeof words === 'number' ? words : null,
      template: typeof template === 'string' ? template : null,
      temperature: typeof temperature === 'number' ? temperature : emptyForm.temperature,
      seed: typeof seed === 'number' ? seed : emptyForm.seed,
      samples: typeof samples === 'number' ? Math.min(MAX_SAMPLES, Math.max(1, Math.round(samples))) : 1,
      maxTokens: typeof maxTokens === 'number' ? maxTokens : null,
      stop: Array.isArray(own.stop) ? own.stop.filter((text) => typeof text === 'string').slice(0, MAX_STOPS) : [],
      models: texts.length === 0 ? emptyForm.models : texts,
    };
  } catch {
    return emptyForm;
  }
}

function isFrom(value: unknown): value is RecordsFrom {
  const { datasetId, side } = (value ?? {}) as Partial<Record<keyof RecordsFrom, unknown>>;
  return (datasetId === null || typeof datasetId === 'number') && (side === 'train' || side === 'test');
}

/** The form, and a function to change it. */
export function useForm(): readonly [Form, (change: Partial<Form>) => void] {
  const [form, setForm] = useState(() => readForm(sessionStorage.getItem(STORED)));
  const change = useCallback((part: Partial<Form>): void => {
    setForm((before) => {
      const next = { ...before, ...part };
      try {
        sessionStorage.setItem(STORED, JSON.stringify(next));
      } catch {
        // The text exceeds the storage quota: it is kept in memory until the page is reloaded.
      }
      return next;
    });
  }, []);
  return [form, change];
}
