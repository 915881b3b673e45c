/** Records in a list, told apart. Pure. */

/** A shorter start is shown with the rest. */
const LEAST = 16;

/** The characters that all prompts begin with, up to the last white space in them: a list leaves them out. */
export function sharedStart([first, ...others]: readonly string[]): number {
  if (first === undefined || others.length === 0) return 0;
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < length && first[same] === other[same]) same++;
    length = same;
  }
  const end = first.slice(0, length).search(/\s\S*$/) + 1;
  return end < LEAST || end === first.length ? 0 : end;
}
