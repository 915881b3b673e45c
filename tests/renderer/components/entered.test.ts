import { describe, expect, it } from 'vitest';
import { entered, ontoStored } from '../../../renderer/components/config-form/entered.ts';

describe('entered', () => {
  it('leaves out what is as it was when the form opened', () => {
    const opened = { id: 1, name: 'a', steps: 40, promotion: { at_least: 0.9 } };
    expect(entered({ name: 'b', steps: 40, promotion: { at_least: 0.9 } }, opened)).toEqual({ name: 'b' });
    expect(entered({ promotion: null }, opened)).toEqual({ promotion: null });
  });
});

describe('ontoStored', () => {
  it('keeps what was stored meanwhile, and drops what was reset', () => {
    const opened = { beta: 0.04, seed: 1, threads: 2 };
    const now = { beta: 0.1, threads: 2 };
    expect(ontoStored(now, opened, { ...opened, threads: 4, temperature: 1 })).toEqual({
      beta: 0.1,
      threads: 4,
      temperature: 1,
    });
  });
});
