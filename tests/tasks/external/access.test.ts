import { describe, expect, it } from 'vitest';
import { reachOf } from '../../../main/tasks/external/access.ts';
import { checkExternal, type ExternalSpec } from '../../../main/tasks/external/spec.ts';

function spec(fields: object): ExternalSpec {
  const checked = checkExternal({ weight: 1, ...fields }, ['question']);
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults));
  return checked.spec;
}
const hash = (fields: object, files = {}): string | undefined => reachOf('one', spec(fields), files)?.hash;
const judge = { judge: 'https://a.example/v1', model: 'm', rubric: '{completion}' };

describe('reachOf', () => {
  it('identifies a command by its arguments and the texts that it runs with', () => {
    const command = { command: ['python3', 'a.py'], files: ['lib.py'] };
    const files = { 'a.py': 'x', 'lib.py': 'y', 'other.py': 'z' };
    const first = hash(command, files);
    expect(hash(command, { ...files, 'other.py': 'changed' })).toBe(first);
    expect(hash(command, { ...files, 'a.py': 'changed' })).not.toBe(first);
    expect(hash(command, { ...files, 'lib.py': 'changed' })).not.toBe(first);
    expect(hash({ ...command, command: ['python3', 'a.py', '-x'] }, files)).not.toBe(first);
    expect(hash({ ...command, timeout_s: 3 }, files)).toBe(first);
  });

  it('identifies an address, and of a judge its model; a rubric may change', () => {
    expect(hash({ ...judge, rubric: 'Again: {completion}' })).toBe(hash(judge));
    expect(hash({ ...judge, model: 'dearer' })).not.toBe(hash(judge));
    expect(hash({ ...judge, judge: 'https://b.example/v1' })).not.toBe(hash(judge));
    expect(hash({ http: 'https://a.example/v1' })).not.toBe(hash(judge));
    expect(reachOf('one', spec(judge), {})).toMatchObject({ host: 'a.example', isPlain: false });
  });

  it('says in words what is run and where it goes', () => {
    expect(reachOf('one', spec({ command: ['sh', '-c', 'rm -rf ~'] }), {})?.text).toContain('["sh","-c","rm -rf ~"]');
    expect(reachOf('one', spec(judge), {})?.text).toContain('https://a.example/v1');
    const files = { 'a.py': 'x\ny\n', 'b.py': 'x' };
    expect(reachOf('one', spec({ command: ['python3', 'a.py', 'b.py'] }), files)?.text).toContain(
      'with a.py (2 lines), b.py (1 line), with your rights',
    );
  });

  it('needs no consent for a model of the workspace, but for one elsewhere', () => {
    expect(hash({ classifier: 'models/rm' })).toBeUndefined();
    expect(hash({ encoder: '/home/me/private', compare_to: '{question}' })).toMatch(/^[0-9a-f]{64}$/);
    expect(hash({ classifier: '../elsewhere' })).toMatch(/^[0-9a-f]{64}$/);
  });
});
