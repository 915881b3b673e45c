/** Streams completions from several models at once, each model's samples one after the other; one failing doesn't affect the others. */
import { useEffect, useRef, useState } from 'react';
import type { Answer, PlayedRecord } from '../../main/api/contract/index.ts';
import { type Client, client } from '../api/client.ts';

export type Completed = Answer | PlayedRecord;

export interface Lane {
  /** Reference of the model that was asked. */
  readonly model: string;
  readonly state: 'running' | 'done' | 'cancelled' | 'failed';
  /** The samples that have arrived so far; the last one may still grow. */
  readonly answers: readonly Completed[];
  readonly error: unknown;
}

type Input<P extends 'answer' | 'play'> = Omit<Parameters<Client['playground'][P]>[0], 'model' | 'beside'>;

/** What every model is asked. */
export type Request = { readonly seed: number; readonly samples: number } & (
  | ({ readonly kind: 'texts' } & Input<'answer'>)
  | ({ readonly kind: 'record' } & Input<'play'>)
);

/** Who is asked, and who else at the same time. */
type Asked = Pick<Parameters<Client['playground']['answer']>[0], 'model' | 'beside'>;

/** One completion as it is generated. */
function stream(request: Request, asked: Asked, sample: number, signal: AbortSignal) {
  const { samples: _, ...input } = { ...request, ...asked, seed: request.seed + sample };
  return input.kind === 'texts'
    ? client.playground.answer(input, { signal })
    : client.playground.play(input, { signal });
}

export interface Answers {
  readonly lanes: readonly (Lane | null)[];
  readonly busy: boolean;
  /** Calls `done` with the lanes once every model has ended, unless it was cancelled. */
  ask(request: Request, models: readonly string[], done: (lanes: readonly (Lane | null)[]) => void): void;
  cancel(): void;
  /** Shows earlier lanes; what is being generated is cancelled. */
  show(lanes: readonly (Lane | null)[]): void;
}

function besides(models: readonly string[], index: number): string[] {
  return models.filter((model, i) => i !== index && model !== '');
}

const running = (model: string): Lane => ({ model, state: 'running', answers: [], error: null });

export function useAnswers(): Answers {
  const [lanes, setLanes] = useState<readonly (Lane | null)[]>([]);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  async function follow(index: number, request: Request, asked: Asked, signal: AbortSignal): Promise<Lane> {
    let lane = running(asked.model);
    const update = (change: Partial<Lane>): void => {
      lane = { ...lane, ...change };
      const now = lane;
      setLanes((before) =>
        controller.current.signal === signal
          ? before.map((one, i) => (i === index && one !== null ? now : one))
          : before,
      );
    };
    try {
      for (let sample = 0; sample < request.samples && !signal.aborted; sample++) {
        const before = lane.answers;
        for await (const answer of await stream(request, asked, sample, signal))
          update({ answers: [...before, answer] });
      }
      update({ state: signal.aborted ? 'cancelled' : 'done' });
    } catch (error) {
      update(signal.aborted ? { state: 'cancelled' } : { state: 'failed', error });
    }
    return lane;
  }

  return {
    lanes,
    busy: lanes.some((lane) => lane?.state === 'running'),
    ask: (request, models, done) => {
      controller.current.abort();
      controller.current = new AbortController();
      const { signal } = controller.current;
      setLanes(models.map((model) => (model === '' ? null : running(model))));
      const all = models.map((model, index) =>
        model === '' ? null : follow(index, request, { model, beside: besides(models, index) }, signal),
      );
      void Promise.all(all).then((ended) => !signal.aborted && done(ended));
    },
    cancel: () => controller.current.abort(),
    show: (earlier) => {
      controller.current.abort();
      controller.current = new AbortController();
      setLanes(earlier);
    },
  };
}
