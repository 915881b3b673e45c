/** Messages over standard input and output, one a line. */
import type { Readable, Writable } from 'node:stream';

/** No message of an agent comes near it. */
const MOST_CHARACTERS = 16 * 2 ** 20;
const TOO_LONG = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Expected at most 16 MiB a message"}}`;

/** Answers each line until the input ends or the signal aborts; requests in progress are answered first. */
export async function serveLines(
  input: Readable,
  output: Writable,
  answer: (line: string) => Promise<string | null>,
  signal?: AbortSignal,
): Promise<void> {
  const open = new Set<Promise<void>>();
  const send = (line: string): void => void output.write(`${line}\n`);
  const take = (line: string): void => {
    if (line.trim() === '') return;
    const work = answer(line)
      .then((text) => {
        if (text !== null) send(text);
      })
      .finally(() => open.delete(work));
    open.add(work);
  };
  let rest = '';
  let dropping = false;
  const hear = (text: string): void => {
    const [first = '', ...others] = text.split('\n');
    rest += dropping ? '' : first;
    if (rest.length > MOST_CHARACTERS) {
      [rest, dropping] = ['', true];
      send(TOO_LONG);
    }
    for (const line of others) {
      if (!dropping) take(rest);
      [rest, dropping] = [line, false];
    }
  };
  input.setEncoding('utf8').on('data', hear);
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  input.off('data', hear);
  input.pause();
  await Promise.all(open);
}
