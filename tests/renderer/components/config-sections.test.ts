import { describe, expect, it } from 'vitest';
import { configForm } from '../../../main/services/config/form.ts';
import { changesOf } from '../../../renderer/components/config-form/sections.ts';

describe('changesOf', () => {
  const fields = configForm();
  const defaults = { seed: 7, temperature: 0.5 } as Readonly<Record<string, unknown>>;
  const defaultOf = ({ name, default: value }: { name: string; default: unknown }) => defaults[name] ?? value;

  it("takes the file's differing values, and the field default of what the file omits", () => {
    // The file omits the temperature, so it is the field default of 1, not this form's.
    expect(changesOf(fields, { seed: 7, beta: 0.1 }, defaultOf)).toEqual({ beta: 0.1, temperature: 1 });
  });

  it("returns nothing for a file with the form's defaults", () => {
    expect(changesOf(fields, { ...defaults }, defaultOf)).toEqual({});
  });
});
