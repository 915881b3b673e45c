import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importIntoStore, storedTexts } from '../../../main/services/texts/index.ts';
import { openStore } from '../../../main/store/index.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { madeText, madeTexts } from './made-texts.ts';

const folder = temporaryFolderOfFile();

describe('importIntoStore', () => {
  it('keeps texts in the workspace, each once and in its longest version', () => {
    const store = openStore(join(folder, 'braid.db'));
    expect(importIntoStore(store, madeTexts(60, 80)).added).toHaveLength(2);
    expect(importIntoStore(store, madeTexts(60, 80)).added).toHaveLength(0);
    const longer = { ...madeText(0, 60), title: 'Whole', text: `${madeText(0, 60).text} ${madeText(9, 60).text}` };
    expect(importIntoStore(store, [longer]).removed.map((text) => text.title)).toEqual(['Text 0']);
    expect(storedTexts(store).map((text) => [text.title, text.words])).toEqual([
      ['Text 1', 80],
      ['Whole', 120],
    ]);
    store.close();
  });

  it('adds none when one cannot be added', () => {
    const store = openStore(join(folder, 'fails.db'));
    let adds = 0;
    const failing = {
      transaction: store.transaction,
      texts: {
        ...store.texts,
        add: (text: Parameters<typeof store.texts.add>[0]) => {
          if (++adds === 2) throw new Error('second text fails');
          return store.texts.add(text);
        },
      },
    };
    expect(() => importIntoStore(failing, madeTexts(60, 80))).toThrow('second text fails');
    expect(storedTexts(store)).toEqual([]);
    store.close();
  });
});
