import { describe, expect, it } from 'vitest';
import { checked, droppedIn, MAX_BYTES, pasted } from '../../../renderer/texts/dropped.ts';

/** The parts of a DataTransfer that are used. */
function transfer(parts: { files?: readonly File[]; text?: string; folder?: string }): DataTransfer {
  const entry = parts.folder === undefined ? null : { isDirectory: true, name: parts.folder };
  return {
    items: [{ webkitGetAsEntry: () => entry }],
    files: parts.files ?? [],
    getData: () => parts.text ?? '',
  } as unknown as DataTransfer;
}

describe('droppedIn', () => {
  it('returns files by name', () => {
    const file = new File(['words'], 'a.txt');
    expect(droppedIn(transfer({ files: [file] }))).toEqual({
      kind: 'files',
      files: [{ name: 'a.txt', content: file }],
    });
  });

  it('returns text as a file without an extension, and nothing for no text', async () => {
    const dropped = droppedIn(transfer({ text: 'some words' }));
    expect(dropped.kind).toBe('files');
    expect(dropped.kind === 'files' && (await dropped.files[0]?.content.text())).toBe('some words');
    expect(droppedIn(transfer({ text: ' \n' }))).toEqual({ kind: 'nothing' });
  });

  it('refuses a folder by name', () => {
    expect(droppedIn(transfer({ folder: 'letters' }))).toMatchObject({
      reason: expect.stringContaining('“letters” is a folder'),
    });
  });
});

describe('checked', () => {
  it('refuses more than the limit of one import, and states the size', () => {
    const large = { name: 'x', content: { size: MAX_BYTES + 1 } as Blob };
    expect(checked([large])).toMatchObject({ kind: 'refused', reason: expect.stringContaining('65 MiB') });
    expect(checked([pasted('words')])).toMatchObject({ kind: 'files' });
  });
});
