/** Prompt templates: named, versioned, editable. */
import { inputError } from '../../errors.ts';

/** A prompt with placeholders: {fragment_a} and {fragment_b}, and {words} where wanted. */
export interface PromptTemplate {
  readonly name: string;
  readonly version: number;
  readonly text: string;
}

/** Values for a template's placeholders. */
export interface PromptValues {
  readonly fragment_a: string;
  readonly fragment_b: string;
  readonly words: number;
}

// The bundled tiny model's tokenizer has each of these pieces as one token: if one changes, the model breaks.
export const PROCESS_INTRODUCTION =
  'You are running two processes in parallel, and each one keeps its own state: its place in its own text.';
export const PROCESS_A = 'Process A reads: ';
export const PROCESS_B = 'Process B reads: ';
export const PROCESS_INSTRUCTION =
  'Output one word from process A, then the next word from process B, in turn, until both are finished. Do this all in one turn. Output:';

/** The default framing: two parallel processes that keep their state. Without "all in one turn", models stop and wait for the user. */
export const processTemplate: PromptTemplate = {
  name: 'process',
  version: 1,
  text: [PROCESS_INTRODUCTION, `${PROCESS_A}{fragment_a}`, `${PROCESS_B}{fragment_b}`, PROCESS_INSTRUCTION].join('\n'),
};

const PLACEHOLDER = /\{([a-z_]+)\}/g;
const REQUIRED = ['fragment_a', 'fragment_b'] as const;
const KNOWN: readonly string[] = [...REQUIRED, 'words'];

/** Checks a template; throws an error that says what is wrong. */
export function checkTemplate(template: PromptTemplate): PromptTemplate {
  const where = `Prompt template "${template.name}"`;
  if (template.name.trim() === '')
    throw inputError('BAD_TEMPLATE', 'Expected a prompt template to have a name, got an empty one');
  if (!Number.isInteger(template.version) || template.version < 1)
    throw inputError(
      'BAD_TEMPLATE',
      `${where}: expected "version" to be a whole number of at least 1, got ${template.version}`,
    );
  const found = new Set(Array.from(template.text.matchAll(PLACEHOLDER), (match) => match[1] ?? ''));
  const missing = REQUIRED.filter((name) => !found.has(name)).map((name) => `{${name}}`);
  const unknown = [...found].filter((name) => !KNOWN.includes(name)).map((name) => `{${name}}`);
  if (missing.length > 0)
    throw inputError(
      'BAD_TEMPLATE',
      `${where}: expected the placeholders {fragment_a} and {fragment_b}, got none of ${missing.join(', ')}`,
      'Add each missing placeholder where its fragment should appear.',
    );
  if (unknown.length > 0)
    throw inputError(
      'BAD_TEMPLATE',
      `${where}: expected only the placeholders {fragment_a}, {fragment_b} and {words}, got ${unknown.join(', ')}`,
    );
  return template;
}

/** The prompt of one pair. Fragments are inserted once and verbatim, even if they contain braces. */
export function renderPrompt(template: PromptTemplate, values: PromptValues): string {
  const byName = new Map<string, string>([
    ['fragment_a', values.fragment_a],
    ['fragment_b', values.fragment_b],
    ['words', String(values.words)],
  ]);
  return template.text.replace(PLACEHOLDER, (whole, name: string) => byName.get(name) ?? whole);
}
