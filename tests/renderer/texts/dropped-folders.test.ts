import { describe, expect, it } from 'vitest';
import { chosenFrom } from '../../../renderer/texts/dropped-folders.ts';

const files = (...names: readonly string[]) => names.map((name) => ({ name, content: new Blob(['x']) }));

describe('chosenFrom', () => {
  it('takes the files that may hold texts', () => {
    const chosen = chosenFrom(files('chat/a.json', 'chat/b.PNG', 'chat/.hidden/c.txt', 'chat/d.TXT', 'chat/e.zip'));
    expect(chosen.kind === 'files' && chosen.files.map(({ name }) => name)).toEqual([
      'chat/a.json',
      'chat/d.TXT',
      'chat/e.zip',
    ]);
  });

  it('says what to do with none, and with too many', () => {
    expect(chosenFrom(files('chat/b.png'))).toMatchObject({ kind: 'refused' });
    const many = chosenFrom(files(...Array.from({ length: 1001 }, (_, i) => `chat/${i}.txt`)));
    expect(many).toMatchObject({ kind: 'refused', reason: expect.stringContaining('Zip it') });
  });
});
