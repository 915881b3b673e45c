/** What comes token by token, in batches for a page: four columns of them must leave it time to draw. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatNews } from './news.ts';

/** Two or three pictures: faster than one reads. */
const EVERY_MS = 40;

/** Work that says something as it proceeds. */
export interface Speaking {
  readonly result: Promise<void>;
  cancel(): void;
}

/** Yields what the work says, tokens together, at most one batch in `everyMs`; fails as it fails. Leaving cancels it. */
export async function* inBatches(
  start: (say: (news: ChatNews) => void) => Speaking,
  everyMs = EVERY_MS,
): AsyncGenerator<ChatNews, void> {
  let said: ChatNews[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const { result, cancel } = start((news) => {
    said.push(news);
    wake();
  });
  const over = (): void => {
    isOver = true;
    wake();
  };
  result.then(over, over);
  try {
    while (!isOver || said.length > 0) {
      if (said.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const batch = joined(said);
      said = [];
      yield* batch;
      if (!isOver) await sleep(everyMs);
    }
    await result;
  } finally {
    cancel();
  }
}

function joined(said: readonly ChatNews[]): readonly ChatNews[] {
  const batch: ChatNews[] = [];
  for (const news of said) {
    const last = batch.at(-1);
    if (news.kind === 'tokens' && last?.kind === 'tokens')
      batch.splice(-1, 1, { kind: 'tokens', tokens: [...last.tokens, ...news.tokens] });
    else batch.push(news);
  }
  return batch;
}
