/** What every kind of fault is given, and how it reports what it found. */
import { hashString, type RandomStream, randomStream } from '../../main/random.ts';

export interface Failure {
  readonly kind: string;
  /** Which try: the same number of the same seed makes the same input again. */
  readonly number: number;
  readonly what: string;
  /** The input, cut short. */
  readonly input: string;
}

/** Counts of one kind. */
export interface KindReport {
  tries: number;
  /** The slowest answer of all, in seconds. */
  slowest: number;
  readonly failures: Failure[];
  /** What was measured beside: memory, restarts. */
  readonly measured: Record<string, number>;
}

export interface KindContext {
  readonly seed: number;
  /** A folder of its own, removed at the end. */
  readonly folder: string;
  readonly report: KindReport;
  /** Whether there is time for another try; at least `least` are made. */
  goesOn(): boolean;
  /** The random numbers of one try. */
  stream(number: number): RandomStream;
  failed(number: number, what: string, input: string): void;
  say(line: string): void;
}

export interface Kind {
  readonly name: string;
  /** Of the time. */
  readonly share: number;
  /** Tries that are made whatever time they take, in a whole campaign and in a short one. */
  readonly least: number;
  readonly leastShort: number;
  run(context: KindContext): Promise<void>;
}

/** Failures of one kind that are kept; more of the same are counted only. */
const MOST_KEPT = 20;
const LONGEST_INPUT = 400;

/** Answers later than this are failures. */
export const SLOW_SECONDS = 2;
/** So are those that need more memory than this beside what is in use. */
export const MOST_MEMORY_MIB = 512;

/** Opens the books of a kind. */
export function openKind(
  kind: Kind,
  options: { readonly seed: number; readonly milliseconds: number; readonly short: boolean; readonly folder: string },
  say: (line: string) => void,
): KindContext {
  const report: KindReport = { tries: 0, slowest: 0, failures: [], measured: {} };
  const until = performance.now() + options.milliseconds;
  const least = options.short ? kind.leastShort : kind.least;
  const seen = new Map<string, number>();
  return {
    seed: options.seed,
    folder: options.folder,
    report,
    goesOn: () => report.tries < least || performance.now() < until,
    stream: (number) => randomStream(options.seed, hashString(kind.name), number),
    failed: (number, what, input) => {
      // The same fault with other numbers in its words.
      const fault = what.replace(/\d+/g, '#');
      const same = (seen.get(fault) ?? 0) + 1;
      seen.set(fault, same);
      report.measured.failed = (report.measured.failed ?? 0) + 1;
      if (same > 3 || report.failures.length >= MOST_KEPT) return;
      report.failures.push({ kind: kind.name, number, what, input: shortened(input) });
      say(`${kind.name} ${number}: ${what}`);
    },
    say,
  };
}

function shortened(input: string): string {
  return input.length > LONGEST_INPUT ? `${input.slice(0, LONGEST_INPUT)}… (${input.length} characters)` : input;
}
