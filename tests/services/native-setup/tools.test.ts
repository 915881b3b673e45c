import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { fetchPackage } from '../../../main/services/native-setup/package.ts';
import { pipDownload } from '../../../main/services/native-setup/pip.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe.skipIf(process.platform === 'win32')('pip and npm', () => {
  it('run in the folder of the set-up: the current one may be from somebody else, with a pip.py or an .npmrc', async () => {
    const folder = temporaryFolder();
    const [tools, scratch] = [join(folder, 'tools'), join(folder, 'scratch')];
    for (const made of [tools, scratch]) mkdirSync(made);
    for (const name of ['python3', 'npm']) {
      writeFileSync(join(tools, name), `#!/bin/sh\npwd > ${folder}/${name}.txt\nexit 1\n`);
      chmodSync(join(tools, name), 0o755);
    }
    vi.stubEnv('PATH', `${tools}:${process.env.PATH}`);
    vi.stubEnv('npm_execpath', undefined);
    try {
      await expect(pipDownload('tensorflow', scratch)).rejects.toMatchObject({ code: 'TOOL_FAILED' });
      await expect(fetchPackage(null, join(folder, 'to'), scratch, {})).rejects.toMatchObject({ code: 'TOOL_FAILED' });
    } finally {
      vi.unstubAllEnvs();
    }
    for (const name of ['python3', 'npm'])
      expect(readFileSync(join(folder, `${name}.txt`), 'utf8').trim(), name).toBe(realpathSync(scratch));
  });
});
