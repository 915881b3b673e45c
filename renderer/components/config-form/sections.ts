/** Which settings are shown, and under which headings. Pure. */
import type { ConfigField } from '../../../main/services/config-form.ts';
import type { ConfigFault } from '../../../main/trainer/config.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface Section {
  readonly title: string;
  readonly open: boolean;
  readonly rows: readonly ConfigField[];
}

/** The section that is always unfolded. */
const ESSENTIALS = 'Essentials';

export interface SectionChoice {
  readonly search: string;
  readonly without: readonly string[];
  readonly own: Values;
  readonly onlyChanged: boolean;
  readonly faults: readonly ConfigFault[];
}

/** The important fields first, then group by group; a group with a fault or a change is unfolded. */
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

/** What a file says, as changes to what is usual here: a field that it leaves out has its own default. */
export function changesOf(
  fields: readonly ConfigField[],
  file: Values,
  usual: (field: ConfigField) => unknown,
): Values {
  const said = fields.map((field) => [field, field.name in file ? file[field.name] : field.default] as const);
  const differing = said.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(usual(field)));
  return Object.fromEntries(differing.map(([{ name }, value]) => [name, value]));
}
