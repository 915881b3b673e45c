/** What a misspelt name can have meant. */
import { distance } from 'fastest-levenshtein';

/** Edits between a name and what was meant by a misspelt one. */
const MOST_EDITS = 3;
/** Beyond it nothing is guessed: the time grows with the square, and names come from people's files. */
const LONGEST_NAME = 200;

/** The name that differs least, if it differs little, capitals aside; the first of several. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const nearest = known
    // A name that differs more in length takes more edits than that.
    .filter((other) => Math.abs(other.length - name.length) <= MOST_EDITS)
    .map((other) => ({ other, edits: distance(name.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)[0];
  // Of a short name, so many edits would leave nothing.
  const most = Math.min(MOST_EDITS, Math.ceil(name.length / 2));
  return nearest !== undefined && nearest.edits <= most ? nearest.other : undefined;
}

/** The end of a message about an unknown name: a question if there is a guess. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : `; did you mean "${name}"?`;
}
