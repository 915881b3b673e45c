import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AskUser, allowComponent, asWord, outsideOf } from '../../../main/services/reward-trials/draft-consent.ts';
import { openConsentFile } from '../../../main/services/tasks/consent.ts';
import { setRewardKey } from '../../../main/services/tasks/reward-keys.ts';
import { openSecrets } from '../../../main/services/workspace/secrets.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { asWindows } from '../../as-windows.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { taskYaml, writeTask } from '../tasks/task-folder.ts';

function world() {
  const root = temporaryFolder();
  const rewards = `rewards:
  said: 1
  short: 0.5
  style: { weight: 1, command: [node, style.mjs] }
  far: { weight: 1, http: 'http://far.example/x', allow_plain_http: true }
  model: { weight: 1, classifier: models/rm }`;
  const files = { 'task.yaml': taskYaml.replace(/rewards: .*/, rewards), 'style.mjs': 'process.exit(0);\n' };
  const source = readTaskFolder(writeTask(root, 'say', files));
  const consents = openConsentFile(join(root, 'config', 'allowed-rewards.json'));
  const secrets = openSecrets({ file: join(root, 'config', 'secrets.json') });
  return { source, trust: { consents, secrets } };
}

describe('outsideOf', () => {
  it('lists what reward.ts does not give, with the texts of commands and whether a key is kept, but no key', () => {
    const { source, trust } = world();
    setRewardKey(trust.secrets, 'http://far.example', 'k3y');
    const components = outsideOf(trust, source);
    expect(components).toMatchObject([
      {
        name: 'style',
        kind: 'command',
        files: { 'style.mjs': 'process.exit(0);\n' },
        keyFor: null,
        reach: { isAllowed: false },
      },
      { name: 'far', kind: 'http', keyFor: 'http://far.example', hasKey: true, reach: { isPlain: true } },
      { name: 'model', kind: 'classifier', reach: null },
    ]);
    expect(JSON.stringify(components)).not.toContain('k3y');
  });
});

describe('asWord', () => {
  it('gives Windows a word with quotation marks and backslashes as its programs read them', () => {
    expect(asWord('a "b"')).toBe(`'a "b"'`);
    asWindows();
    expect(['C:\\py.exe', 'a "b"', 'C:\\my files\\', 'say \\"'].map(asWord)).toEqual([
      'C:\\py.exe',
      '"a \\"b\\""',
      '"C:\\my files\\\\"',
      '"say \\\\\\""',
    ]);
  });
});

describe('allowComponent', () => {
  it('asks with the whole text, and remembers a yes', async () => {
    const { source, trust } = world();
    const asked: Parameters<AskUser>[0][] = [];
    const answering =
      (yes: boolean): AskUser =>
      async (question) => {
        asked.push(question);
        return yes;
      };
    expect(await allowComponent(trust, source, 'style', answering(false))).toBe(false);
    expect(outsideOf(trust, source)[0]?.reach?.isAllowed).toBe(false);
    expect(await allowComponent(trust, source, 'style', answering(true))).toBe(true);
    expect(outsideOf(trust, source).map(({ reach }) => reach?.isAllowed)).toEqual([true, false, undefined]);
    expect(asked[0]).toMatchObject({ action: 'Allow', detail: expect.stringContaining('["node","style.mjs"]') });
    expect(asked[0]?.detail).toContain('process.exit(0);');
    await allowComponent(trust, source, 'far', answering(true));
    expect(asked.at(-1)?.detail).toContain('anyone on the way could read');
  });

  it('hides nothing of what it asks: neither by control characters, nor beyond what fits', async () => {
    const { source, trust } = world();
    const asked: string[] = [];
    const ask: AskUser = async ({ detail }) => asked.push(detail) < 0;
    const script = `print(1) #\r\u202e\u001b[8m${'x'.repeat(2000)}evil()`;
    const definition = source.definition.replace('[node, style.mjs]', '[node, style.mjs, "\\u202egpj.evil"]');
    await allowComponent(trust, { ...source, definition, files: { 'style.mjs': script } }, 'style', ask);
    expect(asked[0]).toContain('"\\u202egpj.evil"');
    expect(asked[0]).toContain('print(1) #\n\\u202e\\u001b[8mxxx');
    expect(asked[0]).toMatch(/x\n… and 22 characters more, on the task's screen$/);
  });

  it('is refused where there is no window of the system to ask in, with the command that agrees', async () => {
    const { source, trust } = world();
    const refused = allowComponent(trust, source, 'far', null);
    await expect(refused).rejects.toMatchObject({
      code: 'REWARD_NOT_ALLOWED',
      remedy: expect.stringMatching(/braid task allow \S+say [0-9a-f]{64} --allow-plain-http$/),
    });
    const folder = join(source.folder, "it's $(id)");
    if (process.platform !== 'win32')
      await expect(allowComponent(trust, { ...source, folder }, 'far', null)).rejects.toMatchObject({
        remedy: expect.stringContaining("/it'\\''s $(id)' "),
      });
    await expect(allowComponent(trust, source, 'model', null)).rejects.toMatchObject({ code: 'REWARD_HASH_UNKNOWN' });
  });
});
