import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Cipher, openSecrets } from '../../../main/services/workspace/secrets.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** Bytes turned around; what was not sealed by it can't be opened. */
const cipher: Cipher = {
  encrypt: (text) => Buffer.from(`sealed ${text}`).reverse(),
  decrypt: (bytes) => {
    const text = Buffer.from(bytes).reverse().toString();
    if (!text.startsWith('sealed ')) throw new Error('not mine');
    return text.slice(7);
  },
};

describe('openSecrets', () => {
  it('keeps each under its name in a file that only its owner can read', () => {
    const file = join(temporaryFolder(), 'braid/secrets.json');
    const secrets = openSecrets({ file });
    expect(secrets.isEncrypted).toBe(false);
    expect(secrets.get('one')).toBeNull();
    secrets.set('one', 'hf_1');
    secrets.set('two', 'ключ');
    expect(openSecrets({ file }).get('one')).toBe('hf_1');
    expect(openSecrets({ file }).get('two')).toBe('ключ');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    secrets.set('one', null);
    expect(secrets.get('one')).toBeNull();
    expect(secrets.get('two')).toBe('ключ');
  });

  it('encrypts where the system can, and reads what an earlier system kept plainly', () => {
    const file = join(temporaryFolder(), 'secrets.json');
    openSecrets({ file }).set('plain', 'hf_0');
    const sealed = openSecrets({ file, cipher });
    sealed.set('one', 'hf_1');
    expect(sealed.isEncrypted).toBe(true);
    expect(sealed.get('one')).toBe('hf_1');
    expect(sealed.get('plain')).toBe('hf_0');
    const stored = JSON.parse(readFileSync(file, 'utf8'));
    expect(Buffer.from(stored.one.value, 'base64').toString()).not.toContain('hf_1');
    // Without the key store, or with another one's: as if there were none.
    expect(openSecrets({ file }).get('one')).toBeNull();
    const other: Cipher = { ...cipher, decrypt: () => cipher.decrypt(Buffer.from('else')) };
    expect(openSecrets({ file, cipher: other }).get('one')).toBeNull();
  });

  it('names a damaged file', () => {
    const file = join(temporaryFolder(), 'secrets.json');
    writeFileSync(file, '{"one": 3}');
    expect(errorOf(() => openSecrets({ file }).get('one'))).toMatchObject({
      code: 'SECRETS_UNREADABLE',
      message: expect.stringContaining(file),
    });
  });
});
