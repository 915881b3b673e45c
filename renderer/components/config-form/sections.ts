/** Which settings are shown, and under which headings. Pure. */
import type { ConfigFault, ConfigField } from '../../../main/api/contract/index.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface Section {
  readonly title: string;
  readonly open: boolean;
  readonly rows: readonly ConfigField[];
}

/** The section that is always expanded. */
const ESSENTIALS = 'Essentials';

export interface SectionChoice {
  readonly search: string;
  readonly without: readonly string[];
  readonly own: Values;
  readonly onlyChanged: boolean;
  readonly faults: readonly ConfigFault[];
}

/** Important fields first, then by group; groups with an error or a change are expanded. */
export function fieldSections(fields: readonly ConfigField[], choice: SectionChoice): readonly Section[] {
  const { search, without, own, onlyChanged, faults } = choice;
  const wanted = search.trim().toLowerCase();
  const shown = fields.filter(
    ({ name, doc }) =>
      !without.includes(name) &&
      (!onlyChanged || name in own) &&
      (wanted === '' || name.includes(wanted) || doc.toLowerCase().includes(wanted)),
  );
  const isTouched = ({ name }: ConfigField): boolean => name in own || faults.some(({ field }) => field === name);
  const first = { title: ESSENTIALS, open: true, rows: shown.filter(({ important }) => important) };
  const rest = shown.filter(({ important }) => !important);
  const groups = [...Map.groupBy(rest, ({ group }) => group)].map(([title, rows]) => ({
    title,
    open: wanted !== '' || rows.some(isTouched),
    rows,
  }));
  return [first, ...groups].filter(({ rows }) => rows.length > 0);
}

/** A file's values as changes to this form's defaults; a field that the file omits gets its own default. */
export function changesOf(
  fields: readonly ConfigField[],
  file: Values,
  defaultOf: (field: ConfigField) => unknown,
): Values {
  const values = fields.map((field) => [field, field.name in file ? file[field.name] : field.default] as const);
  const differing = values.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(defaultOf(field)));
  return Object.fromEntries(differing.map(([{ name }, value]) => [name, value]));
}
