/** Feeds parsers one input after the other, in a thread that its parent can end: a parser may never return. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { BraidError } from '../../main/errors.ts';
import { hashString, randomStream } from '../../main/random.ts';
import { peakMemory } from './hosts.ts';
import { MOST_MEMORY_MIB, SLOW_SECONDS } from './kind.ts';
import { type ParserInput, parseInput, parserInput, parsers } from './parsers.ts';

export interface ParserWork {
  readonly seed: number;
  readonly first: number;
  readonly folder: string;
  /** [number of the try at work, tries begun]: the parent looks at both. */
  readonly at: Int32Array<SharedArrayBuffer>;
  /** By parser: inputs that chance made, and those of them that were read rather than refused. */
  readonly counts: Int32Array<SharedArrayBuffer>;
}

export type ParserNews =
  | { readonly kind: 'failed'; readonly number: number; readonly what: string; readonly input: string }
  | { readonly kind: 'slowest'; readonly seconds: number }
  | { readonly kind: 'heap'; readonly bytes: number };

const HEAP_EVERY = 500;

const { seed, first, folder, at, counts } = workerData as ParserWork;
const emit = (news: ParserNews): void => parentPort?.postMessage(news);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Outcome {
  readonly seconds: number;
  readonly mebibytes: number;
  /** An error of the language or of a library, where a refusal in words is wanted. */
  readonly raw: string | null;
  readonly isRead: boolean;
}

async function outcomeOf(input: ParserInput): Promise<Outcome> {
  const memory = peakMemory(process.pid);
  const from = performance.now();
  let [raw, isRead]: [string | null, boolean] = [null, true];
  try {
    await parseInput(input, folder);
  } catch (error) {
    isRead = false;
    if (!(error instanceof BraidError)) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      raw = `raw ${name}: ${message.slice(0, 120)}`;
    } else if (error.message.length > LONGEST_MESSAGE) raw = `a message of ${error.message.length} characters`;
  }
  return { seconds: (performance.now() - from) / 1000, mebibytes: memory.grownMiB(), raw, isRead };
}

/** Faults of a file are listed one by one, up to a few; an error cuts what it is given. */
const LONGEST_MESSAGE = 11_000;

for (let number = first; ; number++) {
  const input = parserInput(number, randomStream(seed, hashString('parsers'), number));
  const fail = (what: string): void => {
    const { parser, bytes } = input;
    emit({ kind: 'failed', number, what: `${parser.name} (${input.what}): ${what}`, input: bytes.toString('latin1') });
  };
  Atomics.store(at, 0, number);
  Atomics.add(at, 1, 1);
  let outcome = await outcomeOf(input);
  // On a busy machine anything may be late once, and garbage may lie around.
  if (outcome.seconds > SLOW_SECONDS || outcome.mebibytes > MOST_MEMORY_MIB) {
    collect();
    Atomics.add(at, 1, 1);
    outcome = await outcomeOf(input);
  }
  const { seconds, mebibytes, raw, isRead } = outcome;
  emit({ kind: 'slowest', seconds });
  if (raw !== null) fail(raw);
  if (seconds > SLOW_SECONDS) fail(`answered after ${seconds.toFixed(1)} s`);
  if (mebibytes > MOST_MEMORY_MIB) fail(`took ${Math.round(mebibytes)} MiB`);
  const parser = 2 * parsers.indexOf(input.parser);
  Atomics.add(counts, parser, 1);
  if (isRead) Atomics.add(counts, parser + 1, 1);
  // What the parent has to say arrives between two tries.
  if (number % HEAP_EVERY !== 0) continue;
  collect();
  emit({ kind: 'heap', bytes: process.memoryUsage().heapUsed });
  await new Promise((later) => setImmediate(later));
}
