/** Which entries of the palette match what was typed, the best first. Pure. */

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
  const { label, words, others } = searchable(entry);
  if (label === query) return 0;
  if (label.startsWith(query)) return 1;
  if (words.some((word) => word.startsWith(query))) return 2;
  if (label.includes(query)) return 3;
  return query.split(/\s+/).every((word) => label.includes(word) || others.includes(word)) ? 4 : null;
}

interface Searchable {
  readonly label: string;
  readonly words: readonly string[];
  readonly others: string;
}

/** Of thousands of entries, asked at each keystroke. */
const known = new WeakMap<Entry, Searchable>();

function searchable(entry: Entry): Searchable {
  const before = known.get(entry);
  if (before !== undefined) return before;
  const label = (entry.label ?? '').toLowerCase();
  const others = [entry.description ?? '', ...[entry.keywords ?? []].flat()].join(' ').toLowerCase();
  const made = { label, words: label.split(/[^\p{L}\p{N}]+/u), others };
  known.set(entry, made);
  return made;
}

/** The matching entries of each group by rank; the group with the best one first, others in their order. */
export function ordered<E extends Entry>(
  typed: string,
  groups: readonly EntryGroup<E>[],
): readonly { readonly group: string; readonly actions: E[] }[] {
  const query = typed.trim().toLowerCase();
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
