/** Why a native backend can't be used, told apart by what the system's loader and TensorFlow say. */

export type NativeProblemKind =
  | 'not-set-up'
  | 'not-built'
  | 'library-missing'
  | 'library-broken'
  | 'wrong-library'
  | 'wrong-machine'
  | 'wrong-numbers'
  | 'crashed'
  | 'no-answer';

export interface NativeProblem {
  readonly kind: NativeProblemKind;
  /** The file, symbol or message that tells most. */
  readonly detail: string;
}

interface Pattern {
  readonly kind: NativeProblemKind;
  readonly pattern: RegExp;
}

/** In the words of the Linux loader; the first that fits decides. */
const PATTERNS: readonly Pattern[] = [
  { kind: 'library-missing', pattern: /(\S+): cannot open shared object file/ },
  {
    kind: 'library-broken',
    pattern: /(\S+: (?:file too short|invalid ELF header|ELF load command[^\n]*|cannot read file data[^\n]*))/,
  },
  {
    kind: 'wrong-machine',
    pattern:
      /(\S+: wrong ELF class[^\n]*|version `\S+' not found[^\n]*|cannot open shared object file: Exec format[^\n]*)/,
  },
  {
    kind: 'wrong-library',
    pattern: /(undefined symbol: \S+|symbol lookup error[^\n]*|version \S+ not defined in file \S+)/,
  },
];

/** Reads what a process that failed to load the addon left on stderr. */
export function explainProblem(stderr: string, ended: string): NativeProblem {
  for (const { kind, pattern } of PATTERNS) {
    const found = pattern.exec(stderr);
    if (found?.[1] !== undefined) return { kind, detail: found[1] };
  }
  const last = stderr.split('\n').find((line) => /Error:|F\d{4}|Check failed/.test(line));
  return { kind: 'crashed', detail: last === undefined ? `it ended with ${ended}` : `${last.trim()} (${ended})` };
}

/** One sentence for a person. */
export function problemSentence({ kind, detail }: NativeProblem): string {
  switch (kind) {
    case 'not-set-up':
      return 'the native backend is not set up';
    case 'not-built':
      return `the addon was not built (expected ${detail})`;
    case 'library-missing':
      return `the library ${detail} is missing`;
    case 'library-broken':
      return `a library is damaged: ${detail}`;
    case 'wrong-library':
      return `the library is not a TensorFlow that fits the addon (${detail})`;
    case 'wrong-machine':
      return `the library is not for this machine: ${detail}`;
    case 'wrong-numbers':
      return `it computes wrong numbers: ${detail}`;
    case 'crashed':
      return `it crashed when tried: ${detail}`;
    case 'no-answer':
      return `it hung when tried: ${detail}`;
  }
}
