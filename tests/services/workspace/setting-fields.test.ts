import { describe, expect, it } from 'vitest';
import { settingFields } from '../../../main/services/workspace/setting-fields.ts';
import { settingsSchema } from '../../../main/services/workspace/settings.ts';

describe('settingFields', () => {
  it('describes every setting, each with its default, a label of its own and a line of doc', () => {
    const fields = settingFields();
    expect(Object.fromEntries(fields.map((field) => [field.name, field.default]))).toEqual(settingsSchema.parse({}));
    for (const { name, doc } of fields) expect(doc, name).toMatch(/^[A-Z].+\.$/);
    for (const { name, label } of fields)
      expect(label.replace('TF32', 'names'), name).toMatch(/^[A-Z][a-z]+( [a-z]+)*$/);
  });

  it('says what each may be', () => {
    const byName = Object.fromEntries(settingFields().map((field) => [field.name, field]));
    expect(byName.theme).toMatchObject({ kind: 'choice', choices: ['system', 'light', 'dark'], label: 'Theme' });
    expect(byName.notify).toMatchObject({ kind: 'switch', default: true });
    expect(byName.currency).toMatchObject({ kind: 'text', maxLength: 8 });
    expect(byName.concurrent_runs).toMatchObject({ kind: 'number', min: 1, max: 8, whole: true, unit: 'runs' });
    expect(byName.hang_minutes).toMatchObject({ kind: 'number', whole: false, unit: 'minutes' });
  });
});
