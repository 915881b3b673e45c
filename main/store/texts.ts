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

export interface TextRow extends NewText {
  readonly id: number;
  readonly hash: string;
  readonly addedAt: number;
}

/** A text without its words. */
export type TextHeading = Omit<TextRow, 'text' | 'hash'>;

const headingFields = columns(['id', 'title', 'source', 'words', 'added_at']);
const fields = columns(['id', 'title', 'text', 'source', 'words', 'hash', 'added_at']);

/** The identity of a text: SHA-256 of its words, whatever the white space between them. */
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
  const byId = db.prepare<[number], TextRow>(`select ${fields} from text where id = ?`);
  const all = db.prepare<[number], TextRow>(`select ${fields} from text where words >= ? order by id`);
  const headings = db.prepare<[], TextHeading>(`select ${headingFields} from text order by id`);
  const byTitle = db.prepare<[string], TextHeading>(`select ${headingFields} from text where title = ?`);
  const search = db
    .prepare<{ pattern: string }, number>(
      `select id from text where title like @pattern escape '\\' or source like @pattern escape '\\'
         or text like @pattern escape '\\' order by id`,
    )
    .pluck();
  const rename = db.prepare<[string, number]>('update text set title = ? where id = ?');
  const remove = db.prepare<[number]>('delete from text where id = ?');

  return {
    /** Adds a text unless its words are there already; says which. `hash` is its `textHash`, where that is known. */
    add(text: NewText, hash: string = textHash(text.text)): { readonly id: number; readonly added: boolean } {
      const { title, source, words } = text;
      const { changes } = insert.run({ title, text: text.text, source, words, hash, addedAt: now() });
      return { id: idOfHash.get(hash) ?? 0, added: changes === 1 };
    },
    /** Every text without its words, in the order of their arrival. */
    headings: (): TextHeading[] => headings.all(),
    /** Ids of the texts whose title, source or words hold `part`; case counts beyond ASCII only. */
    search: (part: string): number[] => search.all({ pattern: `%${part.replace(/[\\%_]/g, '\\$&')}%` }),
    byTitle: (title: string): TextHeading | undefined => byTitle.get(title),
    rename: (id: number, title: string): boolean => rename.run(title, id).changes === 1,
    get: (id: number): TextRow | undefined => byId.get(id),
    /** Texts of at least `minWords` words, in the order of their arrival. */
    list: (minWords = 0): TextRow[] => all.all(minWords),
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}

export type TextsTable = ReturnType<typeof openTextsTable>;
