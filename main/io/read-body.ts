/** The body of an answer, of at most so many bytes: a server may send without end. */

/** Its bytes; null: there are more, and the connection is closed. */
export async function readBody(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<Buffer | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Far more than what programs say to each other, far less than a text may have. */
export const MOST_ANSWER = 256 * 2 ** 20;

/** As text; throws where it is longer than any answer that is expected. */
export async function readAnswer(body: AsyncIterable<Uint8Array> | null, maxBytes = MOST_ANSWER): Promise<string> {
  const bytes = await readBody(body, maxBytes);
  if (bytes === null) throw new Error(`the answer has more than ${Math.round(maxBytes / 2 ** 20)} MiB`);
  return bytes.toString('utf8');
}
