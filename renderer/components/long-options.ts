/** Options by the thousand, found by their words and put under their groups only where they are shown. Pure. */
import type { ComboboxItem, ComboboxParsedItem, OptionsFilter } from '@mantine/core';
import { folded } from './folded.ts';

type Option = string | ComboboxItem;
/** Options, or groups of them. */
export type LongData = readonly (Option | { readonly group: string; readonly items: readonly Option[] })[];

export interface FlatOptions {
  readonly options: Option[];
  /** By value; options without a group are missing. */
  readonly groups: ReadonlyMap<string, string>;
}

/** Mantine takes a time that grows with the square of the number of groups. */
export function flatOptions(data: LongData): FlatOptions {
  const options: Option[] = [];
  const groups = new Map<string, string>();
  for (const entry of data) {
    if (typeof entry === 'string' || !('group' in entry)) {
      options.push(entry);
      continue;
    }
    options.push(...entry.items);
    for (const item of entry.items) groups.set(typeof item === 'string' ? item : item.value, entry.group);
  }
  return { options, groups };
}

/** The first options that have all the words, in groups. */
export function optionsFilter(groups: FlatOptions['groups']): OptionsFilter {
  return ({ options, search, limit }) => {
    const words = folded(search).split(/\s+/).filter(Boolean);
    const found: ComboboxParsedItem[] = [];
    let count = 0;
    for (const option of options) {
      if (count === limit) break;
      if ('group' in option || !words.every((word) => folded(option.label).includes(word))) continue;
      count++;
      const group = groups.get(String(option.value));
      const last = found.at(-1);
      if (group === undefined) found.push(option);
      else if (last !== undefined && 'group' in last && last.group === group) last.items.push(option);
      else found.push({ group, items: [option] });
    }
    return found;
  };
}

export const labelOf = (option: Option): string => (typeof option === 'string' ? option : option.label);
