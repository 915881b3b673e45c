/**
 * The project's English: phrases that read as translated are refused in UI and CLI strings, comments and docs, each with
 * what to write instead. The list is short on purpose: only phrases that are rarely right.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The folders and files that are checked. */
const ROOTS = [
  'main',
  'renderer',
  'preload',
  'scripts',
  'tests',
  'docs',
  'resources',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CODE_OF_CONDUCT.md',
];
const EXTENSIONS = 'ts,tsx,css,html,md';
/** Not checked: this list itself. */
const UNCHECKED: ReadonlySet<string> = new Set(['tests/words.test.ts']);

interface Rule {
  readonly phrase: RegExp;
  readonly write: string;
  /** Sentences that the rule must find, and sentences that it must leave alone. */
  readonly finds: readonly string[];
  readonly leaves?: readonly string[];
}

const rules: readonly Rule[] = [
  { phrase: /\banew\b/i, write: 'again, restarts', finds: ['The run begins anew.'] },
  {
    phrase: /\b(?:go|goes|went|gone) on\b/i,
    write: 'continues, resumes; "promotes when" for a rule',
    finds: ['The run goes on from its checkpoint.', 'Go on'],
    leaves: ['It says what is going on.'],
  },
  {
    phrase: /\bst(?:and|ands|ood|anding) still\b/i,
    write: 'paused; flat for a curve',
    finds: ['The queue stands still.', 'while the reward stood still'],
  },
  { phrase: /\bbr(?:eak|oke|oken) off\b/i, write: 'interrupted', finds: ['Broken off'] },
  {
    phrase: /\bt(?:ell|ells|old|elling) of\b/i,
    write: 'reports, notifies, emits',
    finds: ['The event tells of a checkpoint.'],
    leaves: ['It can tell officially.'],
  },
  {
    phrase: /\b(?:is|are|be|was|were) told\b/i,
    write: 'is notified, receives; rewrite with what is shown',
    finds: ['Failures are told here.'],
  },
  {
    phrase: /\bmend(?:s|ed|ing)?\b/i,
    write: 'fix',
    finds: ['1 to mend', 'Mend it and import again.'],
    leaves: ['It is recommended to amend the commit.'],
  },
  {
    phrase:
      /\bt(?:ake|akes|aken|aking|ook) in\b(?! (?:a|an|the|one|each|every|order|turn|turns|place|parallel|total|full|memory|which|that|this|its|their)\b)/i,
    write: 'add, import, accept',
    finds: ['Take in', 'Not taken in'],
    leaves: ['They are taken in order.', 'steps taken in a run', 'what it takes in memory'],
  },
  {
    phrase:
      /\bt(?:ake|akes|aken|aking|ook) over (?:a |the |its )?(?:preset|config|file|field|setting|value)|\bnot taken over\b/i,
    write: 'apply, use, load',
    finds: ['Take over a preset', 'The file was not taken over'],
    leaves: ['This button takes over the focus.'],
  },
  { phrase: /\blet(?:s|ting)? go\b/i, write: 'release, dispose, discard', finds: ['It lets go of the tensor.'] },
  {
    phrase: /\blook(?:s|ed)? at (?:it |them )?first\b|\b(?:is|are|be|was|were) looked (?:at|for)\b/i,
    write: 'runs a pre-flight check; is inspected, searched for, selected',
    finds: ['The model that is looked at', 'It looks at first.'],
    leaves: ['It looks at the first row.'],
  },
  {
    phrase: /\bwhat (?:comes?|came) of (?:it|them|this|that|the)\b/i,
    write: 'preview, result',
    finds: ['What comes of it'],
  },
  { phrase: /\bon show\b/i, write: 'shown, selected, current', finds: ['the screen on show'] },
  { phrase: /\bnothing trains\b/i, write: 'idle, no run is training', finds: ['Nothing trains'] },
  {
    phrase: /\b(?:what|that|which|who) (?:is|are) no (?!(?:longer|more|other|different|better|worse)\b)\w+/i,
    write: 'is not a(n) …',
    finds: ['leaves out what is no pin', 'a line that is no record'],
    leaves: ['a file that is no longer there', 'It says that there is no run.'],
  },
  {
    phrase: /\bElse (?=[a-z])|, else as it\b/,
    write: 'Otherwise, …',
    finds: ['Else it is used where it lies.', 'aligned where there is a target, else as it stands'],
    leaves: ['if (a) b(); else c();', 'the option, else the variable'],
  },
  {
    phrase: /\bhands? on (?!the\b)|>hands on</i,
    write: 'forwards, passes on; the next stage starts from',
    finds: ['which checkpoint it hands on ', '<dt>hands on</dt>'],
  },
  {
    phrase: /\bserv(?:e|es|ed) (?:every |each |the |no |a )?stages?\b|\bstages? (?:is|are) served\b|>Served</i,
    write: 'ready; enough, or long enough, for the stage',
    finds: ['Every stage is served.', 'texts that serve each stage'],
  },
  { phrase: /["'`>]Most (?!of\b)[a-z]+["'`<]/, write: 'Max …', finds: ['label="Most tokens"'] },
  {
    phrase: /(?<!\b(?:are|is|were|be|not) )\ball the same\b/i,
    write: 'anyway',
    finds: ['Start it all the same'],
    leaves: ['values that are all the same'],
  },
  {
    phrase: /\ball that (?:a|an|one|only|of)\b|\bwhat of (?:it|them|which)\b/i,
    write: 'rewrite the sentence: everything that, the part that',
    finds: ['all that a page may ask', 'what of them only memory knows'],
  },
  { phrase: /\bpure but for\b|, but for what\b/i, write: 'except for', finds: ['Pure but for time.'] },
  {
    phrase: /\bof one's own\b/i,
    write: 'your own, private, separate',
    finds: ["texts of one's own"],
  },
  {
    phrase: /\bwhoever (?:opens|shows|comes|asks|cancelled)\b/i,
    write: 'name the subject: the user, the screen, the caller',
    finds: ['Whoever opens the screen'],
  },
  {
    phrase: /\bdid not end\b(?! (?:with|in|at|on|well)\b)|\b(?:was|is|were|are) (?:not )?begun\b/i,
    write: 'did not finish; was (not) started',
    finds: ['The check did not end', 'The download was not begun'],
    leaves: ['The file did not end with a newline.'],
  },
  {
    phrase: /\b(?:can't|cannot|can not) be taken back\b/i,
    write: "can't be undone",
    finds: ["This can't be taken back."],
  },
  { phrase: /\btak(?:e|es|en|ing) (?:\w+ ){0,2}up again\b/i, write: 'resume', finds: ['Takes a run up again'] },
  {
    phrase: /\bhow (?:it|they|(?:the|a|each) \w+) stands?\b/i,
    write: 'status, progress, state',
    finds: ['One run: how it stands'],
  },
  {
    phrase: /\bwhat goes (?:with|of) it\b|\bgoes without saying\b/i,
    write: 'its contents; defaults',
    finds: ['What goes with it', 'what goes without saying'],
  },
  { phrase: /\b(?:is|are|be) taken for\b/i, write: 'is treated as', finds: ['it is taken for hung'] },
  { phrase: /\bin our clothes\b/i, write: 'in our style', finds: ['Mantine in our clothes'] },
  { phrase: /\bturn(?:s|ed)? round\b/i, write: 'reverse, transpose', finds: ['the same column turns round'] },
  {
    phrase:
      /[\d}][ \u00a0\u202f]%(?=[.,;:)'"`<|]| (?:of|in|at|and|more|less|too|instead|with|similar|t-|bootstrap|intervals?)\b)/,
    write: 'no space before a percent sign: 95%',
    finds: ['a 95 % interval', 'in 95 % of cases', 'share} %)', '(12.5 %)'],
    leaves: ['a 95% interval', '7 % length', '(i + 3) % count', '{% if a == 1 %}'],
  },
  { phrase: /\bslopes\b/i, write: 'gradients', finds: ['the slopes of the loss'] },
];

/** A place where one of the phrases is right: the words around it, and why. */
interface Exception {
  readonly file: string;
  readonly words: string;
  readonly why: string;
}

const exceptions: readonly Exception[] = [];

/** A file as running text: a sentence that a comment wraps is whole again; `lines` has where each line begins. */
function running(source: string): { readonly text: string; readonly lines: readonly number[] } {
  const lines: number[] = [];
  let text = '';
  for (const line of source.split('\n')) {
    lines.push(text.length);
    text += `${line.replace(/^\s*(?:\/\/|\/?\*+(?!\/)|>|#+)?\s*/, '')} `;
  }
  return { text, lines };
}

/** The refused phrases of a file: `file:line: "phrase" → what to write`. */
function refused(file: string, source: string): readonly string[] {
  const { text, lines } = running(source);
  return rules.flatMap(({ phrase, write }) =>
    [...text.matchAll(new RegExp(phrase, `${phrase.flags}g`))].flatMap(({ 0: found, index }) => {
      const around = text.slice(Math.max(0, index - 80), index + found.length + 80);
      if (exceptions.some((known) => known.file === file && around.includes(known.words))) return [];
      const line = lines.findLastIndex((start) => start <= index) + 1;
      return [`${file}:${line}: "${found.trim()}" → ${write}`];
    }),
  );
}

const files = ROOTS.flatMap((path) => globSync([path, `${path}/**/*.{${EXTENSIONS}}`], { cwd: root }))
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => new RegExp(`\\.(?:${EXTENSIONS.replaceAll(',', '|')})$`).test(file))
  .filter((file) => !UNCHECKED.has(file) && !file.includes('node_modules/'))
  .sort();

describe('words', () => {
  it('are plain English in every checked file', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(files.flatMap((file) => refused(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it.each(rules)('are refused by $phrase where they should be, and only there', ({ phrase, finds, leaves = [] }) => {
    expect(finds.filter((sentence) => !phrase.test(sentence))).toEqual([]);
    expect(leaves.filter((sentence) => phrase.test(sentence))).toEqual([]);
  });

  it('are found across the lines of a comment, at the line where they begin', () => {
    const source = '/**\n * A run goes\n * on after that.\n */\n// Made\n// anew.\n';
    expect(refused('x.ts', source)).toEqual([
      'x.ts:6: "anew" → again, restarts',
      'x.ts:2: "goes on" → continues, resumes; "promotes when" for a rule',
    ]);
  });

  it('have exceptions that still occur', () => {
    const stale = exceptions.filter(
      ({ file, words }) => !running(readFileSync(join(root, file), 'utf8')).text.includes(words),
    );
    expect(stale).toEqual([]);
  });
});
