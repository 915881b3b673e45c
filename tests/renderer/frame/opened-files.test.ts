import { describe, expect, it } from 'vitest';
import { offerFiles, openedFiles, takeFiles } from '../../../renderer/frame/opened-files.ts';

describe('opened files', () => {
  it('wait, each once, until they are taken', () => {
    const seen: (readonly string[])[] = [];
    const stop = openedFiles.subscribe(() => seen.push(openedFiles.get()));
    offerFiles(['/a.txt', '/b.md']);
    offerFiles(['/b.md', '/c.txt']);
    expect(takeFiles()).toEqual(['/a.txt', '/b.md', '/c.txt']);
    expect(takeFiles()).toEqual([]);
    stop();
    offerFiles(['/d.txt']);
    expect(seen).toEqual([['/a.txt', '/b.md'], ['/a.txt', '/b.md', '/c.txt'], []]);
    takeFiles();
  });
});
