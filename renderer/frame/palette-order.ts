/** Which entries of the palette match what was typed, the best first. Pure. */
import { folded } from '../components/folded.ts';

export interface Entry {
  readonly label?: string | undefined;
  readonly description?: string | undefined;
  readonly keywords?: string | readonly string[] | undefined;
}

export interface EntryGroup<E extends Entry> {
  readonly group: string;
  readonly actions: readonly E[];
}

/** Lower is better: the label itself, its beginning, the beginning of one of its words, inside it, elsewhere. */
export function rank(entry: Entry, query: string): number | null {
  const { label, others } = searchable(entry);
  if (label === query) return 0;
  if (label.startsWith(query)) return 1;
  if (label.includes(query)) return beginsWord(label, query) ? 2 : 3;
  return query.split(/\s+/).every((word) => label.includes(word) || others.includes(word)) ? 4 : null;
}

/** Labels are not cut into words: of thousands, that would take longer than a frame. */
function beginsWord(label: string, query: string): boolean {
  for (let at = label.indexOf(query); at > 0; at = label.indexOf(query, at + 1))
    if (!/[\p{L}\p{N}]/u.test(label.charAt(at - 1))) return true;
  return false;
}

interface Searchable {
  readonly label: string;
  readonly others: string;
}

/** Of thousands of entries, asked at each keystroke. */
const known = new WeakMap<Entry, Searchable>();

function searchable(entry: Entry): Searchable {
  const before = known.get(entry);
  if (before !== undefined) return before;
  const label = folded(entry.label ?? '');
  const others = folded([entry.description ?? '', ...[entry.keywords ?? []].flat()].join(' '));
  const made = { label, others };
  known.set(entry, made);
  return made;
}

/** The matching entries of each group by rank; the group with the best one first, others in their order. */
export function ordered<E extends Entry>(
  typed: string,
  groups: readonly EntryGroup<E>[],
): readonly { readonly group: string; readonly actions: E[] }[] {
  const query = folded(typed.trim());
  if (query === '') return groups.map(({ group, actions }) => ({ group, actions: [...actions] }));
  return groups
    .map(({ group, actions }) => {
      const found = actions.flatMap((entry) => {
        const at = rank(entry, query);
        return at === null ? [] : [{ entry, at }];
      });
      found.sort((a, b) => a.at - b.at);
      return { group, actions: found.map(({ entry }) => entry), best: found[0]?.at ?? Number.POSITIVE_INFINITY };
    })
    .filter(({ actions }) => actions.length > 0)
    .sort((a, b) => a.best - b.best)
    .map(({ group, actions }) => ({ group, actions }));
}
