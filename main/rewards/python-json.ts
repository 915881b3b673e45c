/** JSON as Python writes it: with numbers that JSON doesn't have. */

/** A text of JSON, with its end or without, or one of those numbers. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*(?:"|\\?$)|-?\b(?:NaN|Infinity)\b/gs;

/** JSON; NaN and Infinity become texts. Throws a SyntaxError for anything else. */
export function parsePythonJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return parse(text.replace(TEXT_OR_NUMBER, (part) => (part.startsWith('"') ? part : `"${part}"`)));
  }
}
