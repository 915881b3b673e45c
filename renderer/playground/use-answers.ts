/** Streams completions from several models at once; one failing doesn't affect the others. */
import { useEffect, useRef, useState } from 'react';
import type { Answer } from '../../main/api/contract/index.ts';
import { type Client, client } from '../api/client.ts';

export interface Lane {
  readonly state: 'running' | 'done' | 'cancelled' | 'failed';
  /** What has arrived so far. */
  readonly answer: Answer | null;
  readonly error: unknown;
}

export type Request = Omit<Parameters<Client['playground']['answer']>[0], 'model' | 'lanes'>;

export interface Answers {
  readonly lanes: readonly (Lane | null)[];
  readonly busy: boolean;
  ask(request: Request, models: readonly string[]): void;
  cancel(): void;
}

const running: Lane = { state: 'running', answer: null, error: null };

export function useAnswers(): Answers {
  const [lanes, setLanes] = useState<readonly (Lane | null)[]>([]);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  async function follow(index: number, input: Parameters<Client['playground']['answer']>[0], signal: AbortSignal) {
    const update = (change: Partial<Lane>): void =>
      setLanes((before) =>
        controller.current.signal === signal
          ? before.map((lane, i) => (i === index && lane !== null ? { ...lane, ...change } : lane))
          : before,
      );
    try {
      for await (const answer of await client.playground.answer(input, { signal })) update({ answer });
      update({ state: signal.aborted ? 'cancelled' : 'done' });
    } catch (error) {
      update(signal.aborted ? { state: 'cancelled' } : { state: 'failed', error });
    }
  }

  return {
    lanes,
    busy: lanes.some((lane) => lane?.state === 'running'),
    ask: (request, models) => {
      controller.current.abort();
      controller.current = new AbortController();
      const { signal } = controller.current;
      const count = models.filter((model) => model !== '').length;
      setLanes(models.map((model) => (model === '' ? null : running)));
      for (const [index, model] of models.entries()) {
        if (model !== '') void follow(index, { ...request, model, lanes: count }, signal);
      }
    },
    cancel: () => controller.current.abort(),
  };
}
