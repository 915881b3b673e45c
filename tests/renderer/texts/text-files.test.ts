import { describe, expect, it } from 'vitest';
import { textEndings } from '../../../main/services/texts/file-types.ts';
import { mayHoldTexts, TEXT_FILES, TEXT_TYPES } from '../../../renderer/texts/text-files.ts';

describe('mayHoldTexts', () => {
  it('knows what the host reads, and archives', () => {
    expect(TEXT_FILES).toBe([...textEndings, '.zip'].join(','));
    for (const type of TEXT_TYPES.split(', ')) expect(textEndings).toContain(type);
    expect(['a/b.PDF', 'b.zip', 'c.png', 'a/.b/c.txt', 'txt'].map(mayHoldTexts)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
