/** Source texts, each once: the same words under another title are the same text. */
import { createHash } from 'node:crypto';
import { folded } from '../text/folded.ts';
import { columns } from './columns.ts';
import { storedJson } from './json.ts';
import type { Db } from './open.ts';

export interface NewText {
  readonly title: string;
  readonly text: string;
  readonly source: string;
  readonly words: number;
}

/** The side of the split between training and test that a text is on. */
export type TextSide = 'train' | 'test';

export interface TextRow extends NewText {
  readonly id: number;
  /** null until a dataset was made from it. */
  readonly side: TextSide | null;
  readonly hash: string;
  readonly addedAt: number;
}

/** A text's metadata. */
export interface TextHeading extends Omit<TextRow, 'text' | 'hash' | 'side'> {
  /** The user's, to find it by. */
  readonly tags: readonly string[];
  /** Whether it was merged from others that it still has. */
  readonly merged: boolean;
}

/** A text that was merged into another, with its own parts if it had been merged itself. */
export interface TextPart extends NewText {
  readonly tags: readonly string[];
  readonly addedAt: number;
  readonly parts?: readonly TextPart[];
}

type StoredHeading = Omit<TextHeading, 'tags' | 'merged'> & { readonly tagsJson: string; readonly merged: number };

const headingFields = `${columns(['id', 'title', 'source', 'words', 'added_at', 'tags_json'])},
  parts_json is not null as merged`;

function heading({ tagsJson, merged, ...row }: StoredHeading): TextHeading {
  return { ...row, tags: tagsIn(tagsJson, row.id), merged: merged === 1 };
}

function tagsIn(json: string, id: number): readonly string[] {
  const tags = storedJson(json, `the tags of text ${id}`);
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

const rows = `select ${columns(['id', 'title', 'text', 'source', 'words', 'hash', 'added_at'], 'text')}, side
  from text left join text_side on text_side.hash = text.hash`;

/** The identity of a text: SHA-256 of its words, ignoring differences in white space. */
export function textHash(text: string): string {
  return createHash('sha256').update(text.normalize('NFC').trim().replace(/\s+/gu, ' ')).digest('hex');
}

function found(row: StoredHeading | undefined): TextHeading | undefined {
  return row === undefined ? undefined : heading(row);
}

/** In one order, so that a pair is stored once. */
function pairOf(one: string, other: string): [string, string] {
  return one < other ? [one, other] : [other, one];
}

/** Statements of the table `text`. */
export function openTextsTable(db: Db, now: () => number) {
  const insert = db.prepare<NewText & { hash: string; addedAt: number }>(
    `insert into text (title, text, source, words, hash, added_at)
     values (@title, @text, @source, @words, @hash, @addedAt) on conflict (hash) do nothing`,
  );
  const idOfHash = db.prepare<[string], number>('select id from text where hash = ?').pluck();
  const byId = db.prepare<[number], TextRow>(`${rows} where id = ?`);
  const all = db.prepare<[number], TextRow>(`${rows} where words >= ? order by id`);
  const headings = db.prepare<[], StoredHeading>(`select ${headingFields} from text order by id`);
  const headingById = db.prepare<[number], StoredHeading>(`select ${headingFields} from text where id = ?`);
  const byTitle = db.prepare<[string], StoredHeading>(`select ${headingFields} from text where title = ?`);
  const state = db.prepare<[], unknown[]>('select id, title, hash from text order by id').raw();
  const search = db
    .prepare<{ pattern: string }, number>(
      `select id from text where title like @pattern escape '\\' or source like @pattern escape '\\'
         or text like @pattern escape '\\' order by id`,
    )
    .pluck();
  // SQLite knows the case of ASCII letters only.
  db.function('folded', { deterministic: true }, (text: unknown) => folded(String(text)));
  const searchFolded = db
    .prepare<{ part: string }, number>(
      `select id from text where instr(folded(title), @part) or instr(folded(source), @part)
         or instr(folded(text), @part) order by id`,
    )
    .pluck();
  const rename = db.prepare<[string, number]>('update text set title = ? where id = ?');
  const decide = db.prepare<{ hash: string; side: TextSide; at: number }>(
    'insert into text_side (hash, side, decided_at) values (@hash, @side, @at) on conflict (hash) do nothing',
  );
  const hashOfId = db.prepare<[number], string>('select hash from text where id = ?').pluck();
  const train = db.prepare<{ hash: string; at: number }>(
    `insert into text_side (hash, side, decided_at) values (@hash, 'train', @at)
     on conflict (hash) do update set side = 'train', decided_at = excluded.decided_at`,
  );
  const edit = db.prepare<NewText & { hash: string; id: number }>(
    'update or ignore text set title = @title, text = @text, source = @source, words = @words, hash = @hash where id = @id',
  );
  const setTags = db.prepare<[string, number]>('update text set tags_json = ? where id = ?');
  const setParts = db.prepare<[string, number]>('update text set parts_json = ? where id = ?');
  const setAddedAt = db.prepare<[number, number]>('update text set added_at = ? where id = ?');
  const partsOf = db.prepare<[number], string | null>('select parts_json from text where id = ?').pluck();
  const keepPair = db.prepare<[string, string]>(
    'insert or ignore into kept_pair (first_hash, second_hash) values (?, ?)',
  );
  const keptPairs = db.prepare<[], [string, string]>('select first_hash, second_hash from kept_pair').raw();
  const remove = db.prepare<[number]>('delete from text where id = ?');

  return {
    /** Adds a text unless the same words exist; returns which. `hash` is its `textHash`, if already known. */
    add(text: NewText, hash: string = textHash(text.text)): { readonly id: number; readonly added: boolean } {
      const { title, source, words } = text;
      const { changes } = insert.run({ title, text: text.text, source, words, hash, addedAt: now() });
      return { id: idOfHash.get(hash) ?? 0, added: changes === 1 };
    },
    /** The metadata of all texts, oldest first. */
    headings: (): TextHeading[] => headings.all().map(heading),
    heading: (id: number): TextHeading | undefined => found(headingById.get(id)),
    /** Changes with any text, title or their order: whether a change that was computed still applies. */
    state: (): string => JSON.stringify(state.all()),
    /** Ids of the texts whose title, source or text contains `part`, ignoring case. */
    search: (part: string): number[] =>
      /[^\0-\x7f]/.test(part)
        ? searchFolded.all({ part: folded(part) })
        : search.all({ pattern: `%${part.replace(/[\\%_]/g, '\\$&')}%` }),
    byTitle: (title: string): TextHeading | undefined => found(byTitle.get(title)),
    rename: (id: number, title: string): boolean => rename.run(title, id).changes === 1,
    get: (id: number): TextRow | undefined => byId.get(id),
    /** Texts of at least `minWords` words, oldest first. */
    list: (minWords = 0): TextRow[] => all.all(minWords),
    /**
     * Puts a text on a side of the split, for good: also if it is removed and added again. Datasets made before and
     * after a change to the corpus would otherwise train on one another's test texts.
     */
    decide(id: number, side: TextSide): void {
      const hash = hashOfId.get(id);
      if (hash !== undefined) decide.run({ hash, side, at: now() });
    },
    /** The same for a text by its `textHash`, also one that may be added only later. */
    decideHash: (hash: string, side: TextSide): void => void decide.run({ hash, side, at: now() }),
    /** Keeps a text for training whatever was decided: it may have been trained on as a part of another. */
    train(id: number): void {
      const hash = hashOfId.get(id);
      if (hash !== undefined) train.run({ hash, at: now() });
    },
    /** Replaces a text's words; false if another text has the same ones. `hash` is their `textHash`. */
    edit: (id: number, text: NewText, hash: string): boolean => edit.run({ ...text, id, hash }).changes === 1,
    setTags: (id: number, tags: readonly string[]): void => void setTags.run(JSON.stringify(tags), id),
    /** What a text was merged from; null: it wasn't. */
    parts(id: number): readonly TextPart[] | null {
      const json = partsOf.get(id) ?? null;
      return json === null ? null : (storedJson(json, `the parts of text ${id}`) as readonly TextPart[]);
    },
    setParts: (id: number, parts: readonly TextPart[]): void => void setParts.run(JSON.stringify(parts), id),
    /** A text that comes back has its first date. */
    setAddedAt: (id: number, addedAt: number): void => void setAddedAt.run(addedAt, id),
    /** Remembers that two near duplicates are both wanted, as long as neither changes. */
    keepBoth(one: string, other: string): void {
      keepPair.run(...pairOf(one, other));
    },
    /** The pairs of hashes that are both wanted. */
    keptPairs: (): readonly (readonly [string, string])[] => keptPairs.all(),
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}
