import { describe, expect, it } from 'vitest';
import type { ServerLauncher } from '../../../main/api/contract/index.ts';
import { fieldsOf, isComplete, launcherFrom } from '../../../renderer/settings/launcher-form.ts';

const limits = { idleMinutes: 5, maxHours: 2 };
const launchers: readonly ServerLauncher[] = [
  { kind: 'command', command: 'serve', host: null, port: null, ...limits },
  { kind: 'command', command: 'serve', host: 'gpu', port: 8000, ...limits },
  {
    kind: 'ray',
    dashboard: 'http://127.0.0.1:1',
    allowPlain: false,
    entrypoint: 'x',
    workingDir: '/w',
    pip: ['a==1', 'b'],
    env: { A: '1', B: 'x=y' },
    cpus: 1,
    gpus: 2,
    port: 8000,
    ...limits,
  },
  { kind: 'hf', namespace: 'me', image: 'i', command: 'c', flavor: 'a10g-small', env: {}, port: null, ...limits },
];

describe('launcherFrom', () => {
  it.each(launchers)('gives back the launcher that the form was filled with: $kind', (launcher) => {
    expect(launcherFrom(fieldsOf(launcher))).toEqual(launcher);
    expect(isComplete(fieldsOf(launcher))).toBe(true);
  });

  it('knows of none, and of a port only with a host', () => {
    expect(launcherFrom(fieldsOf(null))).toBeNull();
    const fields = fieldsOf({ kind: 'command', command: 'x', host: 'gpu', port: 1, ...limits });
    expect(launcherFrom({ ...fields, host: ' ' })).toMatchObject({ host: null, port: null });
  });
});

describe('isComplete', () => {
  it('needs what the kind needs', () => {
    expect(isComplete(fieldsOf(null))).toBe(true);
    expect(isComplete({ ...fieldsOf(null), kind: 'command', command: ' ' })).toBe(false);
    expect(isComplete({ ...fieldsOf(null), kind: 'hf', command: 'x', namespace: 'me', image: 'i' })).toBe(false);
  });
});
