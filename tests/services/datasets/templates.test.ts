import { describe, expect, it } from 'vitest';
import {
  listTemplates,
  removeTemplate,
  requireTemplate,
  saveTemplate,
} from '../../../main/services/datasets/templates.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';

const text = 'A: {fragment_a} B: {fragment_b}';

describe('saveTemplate', () => {
  it('makes each edit the next version of its name', () => {
    const store = temporaryStore();
    expect(saveTemplate(store, ' mine ', text)).toMatchObject({ name: 'mine', version: 1, builtIn: false });
    expect(saveTemplate(store, 'mine', `${text}!`).version).toBe(2);
    expect(saveTemplate(store, 'process', text).version).toBe(2);
    expect(saveTemplate(store, 'mine', text).version).toBe(1);
    expect(listTemplates(store).map(({ name, version }) => `${name} ${version}`)).toEqual([
      'process 1',
      'mine 2',
      'mine 1',
      'process 2',
    ]);
  });

  it('rejects one without its placeholders', () => {
    expect(errorOf(() => saveTemplate(temporaryStore(), 'mine', 'A: {fragment_a}'))).toMatchObject({
      code: 'BAD_TEMPLATE',
    });
  });
});

describe('removeTemplate', () => {
  it('removes a version, never the built-in one', () => {
    const store = temporaryStore();
    saveTemplate(store, 'mine', text);
    removeTemplate(store, 'mine', 1);
    expect(listTemplates(store)).toHaveLength(1);
    expect(errorOf(() => removeTemplate(store, 'process', 1))).toMatchObject({ code: 'TEMPLATE_BUILT_IN' });
    expect(errorOf(() => removeTemplate(store, 'mine', 1))).toMatchObject({ code: 'TEMPLATE_UNKNOWN' });
  });

  it('treats invalid settings of another version as none', () => {
    const store = temporaryStore();
    store.settings.set('templates', [{ name: 5 }]);
    expect(listTemplates(store)).toHaveLength(1);
    expect(errorOf(() => requireTemplate(store, 'x', 1))).toMatchObject({ code: 'TEMPLATE_UNKNOWN' });
  });
});
