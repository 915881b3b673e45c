/** Feeds parsers one input after the other, in a thread that its parent can end: a parser may never return. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { BraidError } from '../../main/errors.ts';
import { hashString, randomStream } from '../../main/random.ts';
import { parseInput, parserInput } from './parsers.ts';

export interface ParserWork {
  readonly seed: number;
  readonly first: number;
  readonly folder: string;
  /** [number of the try at work, milliseconds on the parent's clock when it began]: the parent looks at both. */
  readonly at: Int32Array<SharedArrayBuffer>;
}

export type ParserNews =
  | { readonly kind: 'failed'; readonly number: number; readonly what: string; readonly input: string }
  | { readonly kind: 'heap'; readonly bytes: number };

const HEAP_EVERY = 500;

const { seed, first, folder, at } = workerData as ParserWork;
const tell = (news: ParserNews): void => parentPort?.postMessage(news);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

for (let number = first; ; number++) {
  const input = parserInput(randomStream(seed, hashString('parsers'), number));
  Atomics.store(at, 0, number);
  Atomics.add(at, 1, 1);
  try {
    await parseInput(input, folder);
  } catch (error) {
    // A refusal in words is what is wanted; anything else is an error of the language or the library.
    if (!(error instanceof BraidError)) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const what = `${input.parser.name}: raw ${name}: ${message.slice(0, 120)}`;
      tell({ kind: 'failed', number, what, input: input.bytes.toString('latin1') });
    }
  }
  // What the parent has to say arrives between two tries.
  if (number % HEAP_EVERY !== 0) continue;
  collect();
  tell({ kind: 'heap', bytes: process.memoryUsage().heapUsed });
  await new Promise((later) => setImmediate(later));
}
