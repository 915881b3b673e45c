/** Which settings are shown, and under which headings. Pure. */
import type { ConfigFault, ConfigField } from '../../../main/api/contract/index.ts';
import { folded } from '../folded.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface Section {
  readonly title: string;
  readonly open: boolean;
  readonly rows: readonly ConfigField[];
}

/** The section that is always expanded. */
const ESSENTIALS = 'Essentials';

/** Fields that are set elsewhere, by name, and where: `Set above: Steps.` */
export type Elsewhere = Readonly<Record<string, string>>;

export interface SectionChoice {
  readonly search: string;
  readonly elsewhere: Elsewhere;
  readonly own: Values;
  readonly onlyChanged: boolean;
  readonly faults: readonly ConfigFault[];
}

/** Important fields first, then by group; groups with an error or a change are expanded. */
export function fieldSections(fields: readonly ConfigField[], choice: SectionChoice): readonly Section[] {
  const { search, elsewhere, own, onlyChanged, faults } = choice;
  const wanted = folded(search.trim());
  const shown = fields.filter(
    (field) => !(field.name in elsewhere) && (!onlyChanged || field.name in own) && matches(field, wanted),
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

/** What the search finds among the fields that are set elsewhere; without a search nothing. */
export function foundElsewhere(
  fields: readonly ConfigField[],
  { search, elsewhere }: Pick<SectionChoice, 'search' | 'elsewhere'>,
): readonly ConfigField[] {
  const wanted = folded(search.trim());
  return wanted === '' ? [] : fields.filter((field) => field.name in elsewhere && matches(field, wanted));
}

function matches({ name, doc }: ConfigField, wanted: string): boolean {
  return name.includes(wanted.replaceAll(' ', '_')) || folded(doc).includes(wanted);
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
