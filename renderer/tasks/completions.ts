/** What the editor offers while a reward is written: our text functions with their types, the answer, the record. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { TextFunction } from '../../main/api/contract/index.ts';

export interface CompletionFacts {
  readonly functions: readonly TextFunction[];
  /** The record's fields with their types. */
  readonly fields: Readonly<Record<string, string>>;
}

const answer: readonly Completion[] = [
  { label: 'record', type: 'variable', detail: 'the line of the dataset' },
  { label: 'completion', type: 'variable', detail: 'string', info: 'The text that the model wrote.' },
  { label: 'tokens', type: 'variable', detail: 'number', info: 'Tokens of the completion, with its end token.' },
  { label: 'finish', type: 'variable', detail: "'stop' | 'length'", info: 'Whether it ended by itself.' },
  {
    label: 'group',
    type: 'variable',
    detail: 'Completion[]',
    info: 'As the second parameter: all completions of the prompt.',
  },
];

const words: readonly Completion[] = ['const', 'let', 'return', 'if', 'else', 'for', 'function', 'export'].map(
  (label) => ({
    label,
    type: 'keyword',
  }),
);

/** Completions at the cursor; after `record.` the fields. */
export function completionsFor(
  context: Pick<CompletionContext, 'matchBefore' | 'explicit'>,
  { functions, fields }: CompletionFacts,
): CompletionResult | null {
  const field = context.matchBefore(/\brecord\.\w*$/);
  if (field !== null)
    return {
      from: field.from + 'record.'.length,
      options: Object.entries({ ...fields, id: 'text', prompt: 'text' }).map(([label, detail]) => {
        return { label, detail, type: 'property' };
      }),
      validFor: /^\w*$/,
    };
  const member = context.matchBefore(/\.\w*$/);
  if (member !== null) return null;
  const word = context.matchBefore(/\w+$/);
  if (word === null && !context.explicit) return null;
  return {
    from: word?.from ?? context.matchBefore(/$/)?.from ?? 0,
    options: [
      ...functions.map(({ name, signature, about }): Completion => {
        return { label: name, type: 'function', detail: signature, info: about };
      }),
      ...answer,
      ...words,
    ],
    validFor: /^\w*$/,
  };
}
