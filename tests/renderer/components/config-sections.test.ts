import { describe, expect, it } from 'vitest';
import { configForm } from '../../../main/services/config-form.ts';
import { changesOf } from '../../../renderer/components/config-form/sections.ts';

describe('changesOf', () => {
  const fields = configForm();
  const usual = { seed: 7, temperature: 0.5 } as Readonly<Record<string, unknown>>;
  const usualOf = ({ name, default: value }: { name: string; default: unknown }) => usual[name] ?? value;

  it('takes what a file says differently, and the own default of what it leaves out', () => {
    // The file says nothing of the temperature, so it is 1 and not what is usual here.
    expect(changesOf(fields, { seed: 7, beta: 0.1 }, usualOf)).toEqual({ beta: 0.1, temperature: 1 });
  });

  it('gives nothing for a file that says what is usual', () => {
    expect(changesOf(fields, { ...usual }, usualOf)).toEqual({});
  });
});
