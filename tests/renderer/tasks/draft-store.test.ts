import { describe, expect, it } from 'vitest';
import { keepDraft, readDraft } from '../../../renderer/tasks/draft-store.ts';

function storage() {
  const held = new Map<string, string>();
  return {
    getItem: (name: string) => held.get(name) ?? null,
    setItem: (name: string, value: string) => void held.set(name, value),
    removeItem: (name: string) => void held.delete(name),
  };
}

describe('drafts', () => {
  const draft = { definition: 'title: A', reward: 'export const reward = 1;', over: 'abc' };

  const a = { workspace: '/work', name: 'a' };

  it('come back as they were kept, one for each task of each workspace, until they are forgotten', () => {
    const store = storage();
    keepDraft(a, draft, store);
    expect(readDraft(a, store)).toEqual(draft);
    expect(readDraft({ ...a, name: 'b' }, store)).toBeNull();
    expect(readDraft({ ...a, workspace: '/other' }, store)).toBeNull();
    keepDraft(a, null, store);
    expect(readDraft(a, store)).toBeNull();
  });

  it('are ignored where they are damaged', () => {
    const store = storage();
    for (const text of ['no json', '{"definition":1}', '[]']) {
      store.setItem('braid.task.a./work', text);
      expect(readDraft(a, store)).toBeNull();
    }
  });

  it('may be denied storage', () => {
    const denied = () => {
      throw new Error('denied');
    };
    keepDraft(a, draft, { setItem: denied, removeItem: denied });
    expect(readDraft(a, { getItem: denied })).toBeNull();
  });
});
