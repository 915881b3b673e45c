import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openConsentFile } from '../../../main/services/tasks/consent.ts';
import { openSecrets } from '../../../main/services/workspace/secrets.ts';
import { processesAtOnce, sourceUrl } from '../../processes-at-once.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('openUserFile', () => {
  it('loses nothing where several processes change secrets and agreements at once', async () => {
    const folder = temporaryFolder();
    const [secrets, consents] = [join(folder, 'secrets.json'), join(folder, 'allowed-rewards.json')];
    await processesAtOnce(
      4,
      `
      import { openSecrets } from ${JSON.stringify(sourceUrl('main/services/workspace/secrets.ts'))};
      import { openConsentFile } from ${JSON.stringify(sourceUrl('main/services/tasks/consent.ts'))};
      const secrets = openSecrets({ file: ${JSON.stringify(secrets)} });
      const consents = openConsentFile(${JSON.stringify(consents)});
      for (let i = 0; i < 10; i++) {
        secrets.set(process.env.NUMBER + '-' + i, 'key');
        const hash = (process.env.NUMBER + i).padStart(64, '0');
        consents.change((before) => [...before, { hash, text: 'runs it', plain: false }]);
      }`,
    );
    expect(Object.keys(JSON.parse(readFileSync(secrets, 'utf8')))).toHaveLength(40);
    expect(openSecrets({ file: secrets }).get('3-9')).toBe('key');
    expect(openConsentFile(consents).read()).toHaveLength(40);
    expect(statSync(`${secrets}.lock`)).toMatchObject({ size: 0 });
    if (process.platform !== 'win32') expect(statSync(`${secrets}.lock`).mode & 0o777).toBe(0o600);
  });

  it('keeps what was there when a change fails', () => {
    const file = openConsentFile(join(temporaryFolder(), 'made', 'file.json'));
    const consent = { hash: 'a'.repeat(64), text: 'runs it', plain: false };
    file.change(() => [consent]);
    expect(() =>
      file.change(() => {
        throw new Error('no');
      }),
    ).toThrow('no');
    file.change((before) => before);
    expect(file.read()).toEqual([consent]);
  });
});
