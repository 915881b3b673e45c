/** What was typed and chosen; it stays while the window is open. Pure but for its storage. */
import { useState } from 'react';

export interface Form {
  readonly a: string;
  readonly b: string;
  /** Words of each text; null: all. */
  readonly words: number | null;
  /** Name and version, as the choice has it; null: the one that comes with Braid. */
  readonly template: string | null;
  readonly temperature: number;
  readonly seed: number;
  /** In tokens; null: as the target needs. */
  readonly maxTokens: number | null;
  /** References of models, one a lane; '' where none is chosen yet. */
  readonly models: readonly string[];
}

export const MOST_LANES = 4;

export const emptyForm: Form = {
  ...{ a: '', b: '', words: null, template: null },
  ...{ temperature: 0, seed: 42, maxTokens: null, models: ['', ''] },
};

const STORED = 'braid.playground';

/** Reads what a window has stored; what is not as it should be is as in an empty form. */
export function readForm(stored: string | null): Form {
  try {
    const { a, b, words, template, temperature, seed, maxTokens, models } = JSON.parse(stored ?? '{}') as Partial<
      Record<keyof Form, unknown>
    >;
    const texts = Array.isArray(models) ? models.filter((ref) => typeof ref === 'string').slice(0, MOST_LANES) : [];
    return {
      a: typeof a === 'string' ? a : '',
      b: typeof b === 'string' ? b : '',
      words: typeof words === 'number' ? words : null,
      template: typeof template === 'string' ? template : null,
      temperature: typeof temperature === 'number' ? temperature : emptyForm.temperature,
      seed: typeof seed === 'number' ? seed : emptyForm.seed,
      maxTokens: typeof maxTokens === 'number' ? maxTokens : null,
      models: texts.length === 0 ? emptyForm.models : texts,
    };
  } catch {
    return emptyForm;
  }
}

/** The form and the way to change it. */
export function useForm(): readonly [Form, (change: Partial<Form>) => void] {
  const [form, setForm] = useState(() => readForm(sessionStorage.getItem(STORED)));
  const change = (part: Partial<Form>): void => {
    setForm((before) => {
      const next = { ...before, ...part };
      try {
        sessionStorage.setItem(STORED, JSON.stringify(next));
      } catch {
        // A text beyond what a window may store: it stays in the page, which is all that was promised.
      }
      return next;
    });
  };
  return [form, change];
}
