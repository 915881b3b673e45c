import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hubAccess, hubAddress, hubOptions } from '../../../main/services/models/hub-access.ts';
import { hubError } from '../../../main/services/models/hub-errors.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const keeping = (token: string | null) => ({ get: () => token, isEncrypted: true });
const nowhere = { HF_HOME: '/nowhere' };

describe('hubOptions', () => {
  it('takes the token that is kept, then those of the tools of Hugging Face', () => {
    const home = temporaryFolder();
    writeFileSync(join(home, 'token'), 'hf_file\n');
    const env = { HF_HOME: home, HF_TOKEN: 'hf_env' };
    const found = (kept: string | null, of: NodeJS.ProcessEnv) => [
      hubOptions(keeping(kept), of).accessToken,
      hubAccess(keeping(kept), of).source,
    ];
    expect(found('hf_kept', env)).toEqual(['hf_kept', 'braid']);
    expect(found(null, env)).toEqual(['hf_env', 'environment']);
    expect(found(null, { ...env, HF_TOKEN: ' ' })).toEqual(['hf_file', 'huggingface-cli']);
    expect(found(null, { HF_TOKEN_PATH: join(home, 'token') })).toEqual(['hf_file', 'huggingface-cli']);
    expect(found(null, { XDG_CACHE_HOME: home, HF_TOKEN: '' })).toEqual([undefined, null]);
  });

  it("says that the desktop's token can't be read here only where no other is found", () => {
    const locked = { get: () => null, isLocked: () => true };
    const refused = (env: NodeJS.ProcessEnv) =>
      hubError(
        Object.assign(new Error(), { statusCode: 401 }),
        { repo: 'a/b', revision: 'main' },
        hubOptions(locked, env),
      );
    expect(refused(nowhere)).toMatchObject({ remedy: expect.stringContaining('only the app can read it') });
    expect(refused({ ...nowhere, HF_TOKEN: 'hf_env' })).toMatchObject({ remedy: expect.stringMatching(/^Renew or/) });
    const none = hubOptions({ get: () => null, isLocked: () => false }, nowhere);
    expect(none.hasLockedToken).toBe(false);
  });

  it("asks another Hub where HF_ENDPOINT names one, and doesn't where it is empty", () => {
    expect(hubOptions(keeping(null), { ...nowhere, HF_ENDPOINT: 'http://mirror' }).hubUrl).toBe('http://mirror');
    expect(hubOptions(keeping(null), { ...nowhere, HF_ENDPOINT: '' }).hubUrl).toBeUndefined();
  });

  it("doesn't repeat a password that stands in an address", () => {
    for (const [name, address] of [
      ['HF_ENDPOINT', 'https://me:s3cret@mirror:8443/hf'],
      ['HF_ENDPOINT', 'https://me:s3cret/@mirror'],
      ['HF_DATASETS_SERVER', 'https://s3cret@mirror'],
    ] as const) {
      const refused = errorOf(() => hubAddress(name, { [name]: address }));
      expect(refused).toMatchObject({ code: 'HUB_ADDRESS', message: expect.stringContaining(`${name} to be`) });
      expect(String(refused)).not.toContain('s3cret');
    }
    expect(hubAddress('HF_ENDPOINT', { HF_ENDPOINT: 'http://mirror/@hub' })).toBe('http://mirror/@hub');
    expect(
      errorOf(() => hubOptions(keeping(null), { ...nowhere, HF_ENDPOINT: 'https://s3cret@mirror' })),
    ).toMatchObject({
      code: 'HUB_ADDRESS',
    });
  });
});
