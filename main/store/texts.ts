/** Source texts, each once: the same words under another title are the same text. */
import { createHash } from 'node:crypto';
import { columns } from './columns.ts';
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
export type TextHeading = Omit<TextRow, 'text' | 'hash' | 'side'>;

const headingFields = columns(['id', 'title', 'source', 'words', 'added_at']);
const rows = `select ${columns(['id', 'title', 'text', 'source', 'words', 'hash', 'added_at'], 'text')}, side
  from text left join text_side on text_side.hash = text.hash`;

/** The identity of a text: SHA-256 of its words, ignoring differences in white space. */
export function textHash(text: string): string {
  return createHash('sha256').update(text.normalize('NFC').trim().replace(/\s+/gu, ' ')).digest('hex');
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
  const headings = db.prepare<[], TextHeading>(`select ${headingFields} from text order by id`);
  const byTitle = db.prepare<[string], TextHeading>(`select ${headingFields} from text where title = ?`);
  const search = db
    .prepare<{ pattern: string }, number>(
      `select id from text where title like @pattern escape '\\' or source like @pattern escape '\\'
         or text like @pattern escape '\\' order by id`,
    )
    .pluck();
  const rename = db.prepare<[string, number]>('update text set title = ? where id = ?');
  const decide = db.prepare<{ hash: string; side: TextSide; at: number }>(
    'insert into text_side (hash, side, decided_at) values (@hash, @side, @at) on conflict (hash) do nothing',
  );
  const hashOfId = db.prepare<[number], string>('select hash from text where id = ?').pluck();
  const remove = db.prepare<[number]>('delete from text where id = ?');

  return {
    /** Adds a text unless the same words exist; returns which. `hash` is its `textHash`, if already known. */
    add(text: NewText, hash: string = textHash(text.text)): { readonly id: number; readonly added: boolean } {
      const { title, source, words } = text;
      const { changes } = insert.run({ title, text: text.text, source, words, hash, addedAt: now() });
      return { id: idOfHash.get(hash) ?? 0, added: changes === 1 };
    },
    /** The metadata of all texts, oldest first. */
    headings: (): TextHeading[] => headings.all(),
    /** Ids of the texts whose title, source or text contains `part`, ignoring case for ASCII letters. */
    search: (part: string): number[] => search.all({ pattern: `%${part.replace(/[\\%_]/g, '\\$&')}%` }),
    byTitle: (title: string): TextHeading | undefined => byTitle.get(title),
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
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}

export type TextsTable = ReturnType<typeof openTextsTable>;
