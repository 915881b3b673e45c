import { describe, expect, it } from 'vitest';
import { offerFiles, openedFiles, takeFiles } from '../../../renderer/frame/opened-files.ts';

describe('opened files', () => {
  it('are queued, each once, until they are picked up', () => {
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
