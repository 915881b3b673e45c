/** Levels of lists and objects that are read: a reader or writer of JSON makes a call for each. */
export const DEEPEST_JSON = 200;

/** How deeply the lists and objects of a JSON text are nested, read once from left to right. */
export function nestingOf(json: string): number {
  let [depth, deepest] = [0, 0];
  let isText = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (isText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === BRACKET || code === BRACE) deepest = Math.max(deepest, ++depth);
    // The closing ones lie two above.
    else if (code === BRACKET + 2 || code === BRACE + 2) depth--;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
