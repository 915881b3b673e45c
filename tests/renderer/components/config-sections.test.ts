import { describe, expect, it } from 'vitest';
import { configForm } from '../../../main/services/config/form.ts';
import { changesOf, fieldSections, foundElsewhere } from '../../../renderer/components/config-form/sections.ts';

const fields = configForm();

describe('changesOf', () => {
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

describe('the search for a setting', () => {
  const elsewhere = { max_steps: 'Set above: Steps.' };
  const found = (search: string) => ({
    here: fieldSections(fields, { search, elsewhere, own: {}, onlyChanged: false, faults: [] }).flatMap(({ rows }) =>
      rows.map(({ name }) => name),
    ),
    elsewhere: foundElsewhere(fields, { search, elsewhere }).map(({ name }) => name),
  });

  it('finds names as in files, with or without their underscores, also of what is set elsewhere', () => {
    expect(found('max_steps').elsewhere).toEqual(['max_steps']);
    expect(found('Max steps').elsewhere).toEqual(['max_steps']);
    expect(found('num generations').here).toContain('num_generations');
    expect(found('no such setting')).toEqual({ here: [], elsewhere: [] });
  });

  it('lists what is set elsewhere only where it is searched for', () => {
    expect(found(' ').elsewhere).toEqual([]);
    expect(found(' ').here).not.toContain('max_steps');
  });
});
