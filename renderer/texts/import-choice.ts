/** What an import does with each text, once the user has decided about some of them. Pure. */
import type { ImportedFile, IncomingText, Keep } from '../../main/api/contract/index.ts';
import { counted, number } from '../components/format.ts';

/** The user's choices, by the position of the text. */
export interface ImportChoice {
  readonly without: ReadonlySet<number>;
  readonly keep: ReadonlyMap<number, Keep>;
}

export type Fate = IncomingText['fate'] | 'besides';

export const noChoice: ImportChoice = { without: new Set(), keep: new Map() };

/** Whether something was chosen other than what the preview proposes. */
export function isDecided({ without, keep }: ImportChoice): boolean {
  return without.size > 0 || keep.size > 0;
}

/** The choice for the texts of files that were read again in another way: of each text that is still there. */
export function keptChoice(
  { without, keep }: ImportChoice,
  before: readonly IncomingText[],
  now: readonly IncomingText[],
): ImportChoice {
  const places = placesOf(before);
  const moved = [...placesOf(now)].flatMap(([text, to]): (readonly [from: number, to: number])[] => {
    const from = places.get(text);
    return from === undefined ? [] : [[from, to]];
  });
  return {
    without: new Set(moved.flatMap(([from, to]) => (without.has(from) ? [to] : []))),
    keep: new Map(
      moved.flatMap(([from, to]) => {
        const kept = keep.get(from);
        return kept === undefined || first(before[from]) !== first(now[to]) ? [] : [[to, kept] as const];
      }),
    ),
  };
}

/** What a near duplicate was compared with when it was decided about. */
function first(text: IncomingText | undefined): string | null {
  const [resembled] = text?.resembles ?? [];
  return resembled?.kind === 'near' ? resembled.title : null;
}

/** Positions by what tells texts apart. Not by the title: it may be numbered. */
function placesOf(texts: readonly IncomingText[]): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  return new Map(
    texts.map(({ file, source, words, beginning }, i) => {
      const text = JSON.stringify([file, source, words, beginning]);
      const nth = seen.get(text) ?? 0;
      seen.set(text, nth + 1);
      return [`${text} ${nth}`, i];
    }),
  );
}

const FATES = { earlier: 'left-out', new: 'replaces', both: 'besides' } as const;

/** What happens to a text of the import that isn't deselected. */
export function fateOf({ fate }: IncomingText, keep: Keep | undefined): Fate {
  return keep === undefined ? fate : FATES[keep];
}

/** Whether a near duplicate can be compared with what it resembles. An exact one is the same text. */
export function isComparable({ resembles }: IncomingText): boolean {
  return resembles[0]?.kind === 'near';
}

/** How many texts are imported. */
export function comingCount(texts: readonly IncomingText[], { without, keep }: ImportChoice): number {
  return texts.filter((text, i) => !without.has(i) && fateOf(text, keep.get(i)) !== 'left-out').length;
}

/** "3 texts found, 2 new, 1 skipped as a duplicate." */
export function summaryOf(texts: readonly IncomingText[], { without, keep }: ImportChoice): string {
  const count = (wanted: Fate): number =>
    texts.filter((text, i) => !without.has(i) && fateOf(text, keep.get(i)) === wanted).length;
  const some = (wanted: Fate, words: (count: number) => string): string[] =>
    count(wanted) > 0 ? [words(count(wanted))] : [];
  const parts = [
    `${counted(texts.length, 'text')} found`,
    `${number(count('new'))} new`,
    ...some('replaces', (n) => `${number(n)} replacing ${n === 1 ? 'another version' : 'other versions'}`),
    ...some('besides', (n) => `${number(n)} kept with ${n === 1 ? 'a similar text' : 'similar texts'}`),
    ...some('left-out', (n) => `${number(n)} skipped as ${n === 1 ? 'a duplicate' : 'duplicates'}`),
    ...(without.size > 0 ? [`${number(without.size)} deselected`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** The label of the button: "Import 3 of 4 texts" where lines of a file with good ones are bad. */
export function importLabel(coming: number, files: readonly ImportedFile[]): string {
  if (coming === 0) return 'Nothing to import';
  const bad = files.reduce((sum, { texts, faultCount }) => sum + (texts > 0 ? faultCount : 0), 0);
  const texts = files.reduce((sum, file) => sum + file.texts, 0);
  if (bad > 0) return `Import ${number(coming)} of ${number(texts + bad)} texts`;
  return `Import ${counted(coming, 'text')}`;
}

/** What isn't imported of the files with errors, in a sentence. */
export function faultsSummary(files: readonly ImportedFile[]): string {
  const lines = files.reduce((sum, { texts, faultCount }) => sum + (texts > 0 ? faultCount : 0), 0);
  const whole = files.filter(({ texts, faultCount }) => texts === 0 && faultCount > 0).length;
  const parts = [
    ...(lines > 0 ? [counted(lines, 'line has an error', 'lines have errors')] : []),
    ...(whole > 0 ? [counted(whole, "file can't be read", "files can't be read")] : []),
  ];
  const end = lines > 0 ? 'The other lines of those files can be imported.' : 'The other files can be imported.';
  const others = files.some(({ texts }) => texts > 0);
  return `${parts.join(' and ')}. ${others ? end : 'Fix them and import again.'}`;
}

/** Encodings other than UTF-8, for the user to check: "letters.txt was read as Windows-1252." */
export function encodingNotes(files: readonly ImportedFile[]): string[] {
  return (['UTF-16', 'Windows-1252'] as const).flatMap((encoding) => {
    const found = files.filter((file) => file.encoding === encoding);
    const [first] = found;
    if (first === undefined) return [];
    const what = found.length === 1 ? `${first.name} was` : counted(found.length, 'file was', 'files were');
    return [`${what} read as ${encoding}.`];
  });
}
