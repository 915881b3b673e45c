/**
 * Lines of a stream of JSON. Node's `readline` also ends them at U+2028 and U+2029, which JSON leaves in its texts as they
 * are.
 */
const LINE_END = /\r\n|\n|\r/;

/** One after the other; blank ones may come from a line end that two pieces share. */
export async function* linesOf(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of input) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const [first = '', ...others] = text.split(LINE_END);
    rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  yield rest + decoder.decode();
}
