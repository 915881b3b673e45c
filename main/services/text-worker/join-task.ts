/** Merges short texts into longer ones, so that they suffice for longer stages. */
import { inputError } from '../../errors.ts';
import { type StageChange, stageChanges } from '../datasets/stage-changes.ts';
import { type CorpusChange, changeOf } from '../texts/corpus-change.ts';
import { type Duplicate, mergeTexts } from '../texts/merge.ts';
import { type CorpusText, corpusText, type SourceText, sideOf } from '../texts/source-text.ts';

/** Texts to merge, in this order, under this title. */
export interface JoinGroup {
  readonly ids: readonly number[];
  readonly title: string;
}

export interface JoinInput {
  readonly corpus: readonly SourceText[];
  readonly groups: readonly JoinGroup[];
}

/** Preview of one merged text. */
export interface JoinedText {
  readonly title: string;
  readonly words: number;
  readonly parts: readonly { readonly id: number; readonly title: string; readonly words: number }[];
  /** What it resembles other than its parts; if it would be left out, nothing is merged. */
  readonly duplicates: readonly Duplicate[];
  readonly leftOut: boolean;
}

export interface JoinPlan {
  readonly joined: readonly JoinedText[];
  readonly stages: readonly StageChange[];
  readonly change: CorpusChange;
}

/** Computes the result of merging; the parts are removed, because the merged text contains all their words. */
export function planJoin({ corpus, groups }: JoinInput): JoinPlan {
  checkGroups(groups);
  const before = corpus.map(corpusText);
  const byId = new Map(before.map((text) => [Number(text.id), text]));
  const partsOf = groups.map(({ ids }) => ids.map((id) => requireText(byId, id)));
  const parts = new Set(partsOf.flat());
  const rest = before.filter((text) => !parts.has(text));
  const wholes = groups.map(({ title }, i) => wholeOf(title, partsOf[i] ?? []));
  const merged = mergeTexts(rest, wholes);
  const joined = wholes.map((whole, i): JoinedText => {
    const { added = null, duplicates = [] } = merged.outcomes[i] ?? {};
    return {
      title: added?.title ?? whole.title,
      words: corpusText(whole).words,
      parts: (partsOf[i] ?? []).map(({ id, title, words }) => ({ id: Number(id), title, words })),
      duplicates,
      leftOut: added === null,
    };
  });
  // A whole that is left out as a duplicate must not take its parts with it.
  const saved = new Set(partsOf.flatMap((texts, i) => (joined[i]?.leftOut === true ? texts : [])));
  const removed = [...merged.removed, ...parts].filter((text) => !saved.has(text));
  const idsOf = new Map(merged.outcomes.map(({ added }, i) => [added, groups[i]?.ids ?? []]));
  return {
    joined,
    stages: stageChanges(before, [...merged.texts, ...saved]),
    change: changeOf(merged.added, removed, (added) => ({ from: idsOf.get(added), keepsParts: true })),
  };
}

function checkGroups(groups: readonly JoinGroup[]): void {
  const seen = new Set<number>();
  for (const { ids, title } of groups) {
    if (ids.length < 2)
      throw inputError('BAD_JOIN', `Expected at least two texts to merge into "${title}", got ${ids.length}`);
    for (const id of ids) {
      if (seen.has(id)) throw inputError('BAD_JOIN', `Expected each text in one place, got text ${id} twice`);
      seen.add(id);
    }
  }
}

function requireText(byId: ReadonlyMap<number, CorpusText>, id: number): CorpusText {
  const text = byId.get(id);
  if (text !== undefined) return text;
  throw inputError('TEXT_UNKNOWN', `There is no text with id ${id}`, 'Choose the texts again.');
}

/** The merged text; its source lists the parts' sources, each once. */
function wholeOf(title: string, parts: readonly CorpusText[]): SourceText {
  const sources = [...new Set(parts.map(({ source }) => source))];
  const source = sources.length <= 3 ? sources.join(', ') : `${sources.slice(0, 3).join(', ')} …`;
  return { id: 'joined', title, text: parts.map(({ text }) => text).join('\n\n'), source, side: sideOf(parts) };
}
