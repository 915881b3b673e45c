import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

describe('no-current-folder', () => {
  it('keeps Windows from starting programs of the current folder', async () => {
    vi.stubEnv('NoDefaultCurrentDirectoryInExePath', undefined);
    await import('../../main/io/no-current-folder.ts');
    expect(process.env.NoDefaultCurrentDirectoryInExePath).toBe('1');
  });

  it.each(['main/index.ts', 'main/braid.ts', 'scripts/start.ts'])('is what %s imports first', (entry) => {
    const text = readFileSync(join(import.meta.dirname, '../..', entry), 'utf8');
    expect(/^import.*/m.exec(text)?.[0]).toMatch(/'[./a-z]+\/io\/no-current-folder\.ts'/);
  });
});
