/**
 * What reward.ts can import from 'braid'. The functions run outside the sandbox, on the reward's thread; only JSON goes in
 * and out. resources/tasks/braid.d.ts has their types and documentation.
 */
import { alignmentScore } from '../../text/alignment.ts';
import { arithmetic, jsonIn } from '../../text/answers.ts';
import { ngramSets, setDiversity } from '../../text/diversity.ts';
import { lastNumber, numbersIn } from '../../text/numbers.ts';
import { repetition } from '../../text/repetition.ts';
import { sentimentOf } from '../../text/sentiment.ts';
import { sourceWords } from '../../text/source-words.ts';
import { inverseDocumentFrequency, stems, tfidfCosine } from '../../text/terms.ts';
import { splitWords } from '../../text/words.ts';
import { schemaFaults } from './json-schema.ts';

type Kind = 'text' | 'texts' | 'value';

interface TextFunction {
  readonly takes: readonly Kind[];
  // Each is called with what it takes: `callTextFunction` checks it.
  readonly run: (...values: never[]) => unknown;
}

const unweighted = inverseDocumentFrequency([]);

const functions: Readonly<Record<string, TextFunction>> = {
  words: { takes: ['text'], run: splitWords },
  alignment: {
    takes: ['text', 'text'],
    run: (target: string, completion: string) => alignmentScore(splitWords(target), splitWords(completion)),
  },
  similarity: {
    takes: ['text', 'text'],
    run: (a: string, b: string) => tfidfCosine(stems(a), stems(b), unweighted),
  },
  diversity: { takes: ['texts'], run: (texts: string[]) => setDiversity(texts.map(ngramSets)) },
  repetition: { takes: ['text'], run: (text: string) => repetition(sourceWords(text)) },
  sentiment: { takes: ['text'], run: (text: string) => sentimentOf(text).compound },
  numbers: { takes: ['text'], run: numbersIn },
  lastNumber: { takes: ['text'], run: (text: string) => lastNumber(text) },
  arithmetic: { takes: ['text'], run: arithmetic },
  json: { takes: ['text'], run: jsonIn },
  schemaFaults: { takes: ['value', 'value'], run: schemaFaults },
};

/** Their names. */
export const textFunctionNames = Object.keys(functions);

/** Calls one of them with arguments from the sandbox. */
export function callTextFunction(name: string, values: readonly unknown[]): unknown {
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (known === undefined) throw new TypeError(`braid has no function ${name}`);
  known.takes.forEach((kind, i) => {
    if (!isOf(kind, values[i])) throw new TypeError(`${name}: expected ${WORDS[kind]}, got ${shown(values[i])}`);
  });
  return known.run(...(values as never[]));
}

const WORDS: Readonly<Record<Kind, string>> = { text: 'a text', texts: 'a list of texts', value: 'a value' };

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === 'texts') return Array.isArray(value) && value.every((text) => typeof text === 'string');
  return kind === 'value' || typeof value === 'string';
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
