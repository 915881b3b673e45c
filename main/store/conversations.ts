/** Conversations that the user keeps. What is in one is the service's to say: here it is an object. */
import { columns } from './columns.ts';
import { storedObject } from './json.ts';
import type { Db } from './open.ts';

/** A conversation without what was said. */
export interface ConversationHeading {
  readonly id: number;
  readonly title: string;
  /** Of the user. */
  readonly turns: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ConversationRow extends ConversationHeading {
  readonly content: Readonly<Record<string, unknown>>;
}

export interface NewConversation extends Pick<ConversationRow, 'title' | 'turns'> {
  readonly content: object;
}

type RawRow = ConversationHeading & { readonly contentJson: string };

const heading = ['id', 'title', 'turns', 'created_at', 'updated_at'];

/** Statements of the table `conversation`. */
export function openConversationsTable(db: Db, now: () => number) {
  const all = db.prepare<[], ConversationHeading>(
    `select ${columns(heading)} from conversation order by updated_at desc, id desc`,
  );
  const byId = db.prepare<[number], RawRow>(
    `select ${columns([...heading, 'content_json'])} from conversation where id = ?`,
  );
  const insert = db.prepare<{ title: string; turns: number; json: string; at: number }>(
    `insert into conversation (title, turns, content_json, created_at, updated_at)
     values (@title, @turns, @json, @at, @at)`,
  );
  const update = db.prepare<{ id: number; turns: number; json: string; at: number }>(
    'update conversation set turns = @turns, content_json = @json, updated_at = @at where id = @id',
  );
  const rename = db.prepare<[string, number]>('update conversation set title = ? where id = ?');
  const remove = db.prepare<[number]>('delete from conversation where id = ?');

  return {
    /** The one that was spoken to last first. */
    list: (): ConversationHeading[] => all.all(),
    get(id: number): ConversationRow | undefined {
      const row = byId.get(id);
      if (row === undefined) return undefined;
      const { contentJson, ...rest } = row;
      return { ...rest, content: storedObject(contentJson, `conversation ${id}`) };
    },
    /** Returns its id. */
    add: ({ title, turns, content }: NewConversation): number =>
      Number(insert.run({ title, turns, json: JSON.stringify(content), at: now() }).lastInsertRowid),
    /** False: there is none with this id. */
    update: (id: number, { turns, content }: Omit<NewConversation, 'title'>): boolean =>
      update.run({ id, turns, json: JSON.stringify(content), at: now() }).changes === 1,
    rename: (id: number, title: string): boolean => rename.run(title, id).changes === 1,
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}
