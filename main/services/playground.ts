/** Trying a model on two texts of one's own: the prompt they make, and its answer while it grows. */
import { availableParallelism } from 'node:os';
import { inputError } from '../errors.ts';
import { checkTemplate, processTemplate, renderPrompt } from '../tasks/interleave/prompt.ts';
import { interleaveWords } from '../tasks/interleave/target.ts';
import { splitWords } from '../text/words.ts';
import type { GenerateJob } from '../trainer/generate-job.ts';
import type { App } from './app.ts';
import { type ModelPlaces, requireModel } from './model-list.ts';
import { resolveModelParts } from './models.ts';
import { runTrainerJob } from './trainer-job.ts';
import { alignCompletion, type FragmentLengths, type WordAlignment } from './word-alignment.ts';

export interface PromptRequest {
  readonly a: string;
  readonly b: string;
  /** Of each text, from its beginning; undefined: all. */
  readonly words?: number | undefined;
  /** Text of a prompt template; undefined: the one that comes with Braid. */
  readonly template?: string | undefined;
}

export interface PlaygroundPrompt {
  readonly prompt: string;
  readonly target: string;
  readonly fragments: FragmentLengths;
  /** The target with its strands. */
  readonly alignment: WordAlignment;
}

export interface AnswerRequest extends PromptRequest {
  /** As the list of models has it. */
  readonly model: string;
  readonly temperature: number;
  readonly seed: number;
  /** In tokens; undefined: the target's length and a margin. */
  readonly maxTokens?: number | undefined;
  /** Models that answer at the same time: they share the machine. */
  readonly lanes: number;
}

/** An answer so far: the words that are whole, against as many of the target. At its end against all of it. */
export interface Answer {
  readonly alignment: WordAlignment;
  readonly text: string;
  readonly tokens: number;
  /** Null while it grows. */
  readonly end: AnswerEnd | null;
}

export interface AnswerEnd {
  readonly terminated: boolean;
  readonly promptTokens: number;
  readonly seconds: number;
  readonly backend: string;
}

/** Words of one text: the longest stage has 500. */
export const MOST_WORDS = 1000;

/** What two texts make; says which text is empty or too long. */
export function composePrompt({ a, b, words, template }: PromptRequest): PlaygroundPrompt {
  const [wordsA, wordsB] = [fragment(a, 'A', words), fragment(b, 'B', words)];
  const checked = template === undefined ? processTemplate : checkTemplate({ name: 'own', version: 1, text: template });
  const prompt = renderPrompt(checked, {
    fragment_a: wordsA.join(' '),
    fragment_b: wordsB.join(' '),
    words: Math.max(wordsA.length, wordsB.length),
  });
  const target = interleaveWords(wordsA, wordsB).join(' ');
  const fragments = { a: wordsA.length, b: wordsB.length };
  return { prompt, target, fragments, alignment: alignCompletion(target, target, 'interleave', fragments) };
}

function fragment(text: string, name: 'A' | 'B', most: number | undefined): readonly string[] {
  const words = splitWords(text).slice(0, most ?? Number.POSITIVE_INFINITY);
  if (words.length === 0)
    throw inputError('TEXT_EMPTY', `Expected text ${name} to have at least one word, got none`, `Write text ${name}.`);
  if (words.length <= MOST_WORDS) return words;
  throw inputError(
    'TEXT_TOO_LONG',
    `Expected text ${name} to have at most ${MOST_WORDS} words, got ${words.length}`,
    'Shorten it, or say how many words of each text to take.',
  );
}

type Place = ModelPlaces & Pick<App, 'paths' | 'jobs'>;

/** A model's answer, again and again while it grows; wrong input is thrown before a process is started. */
export async function* answer(app: Place, request: AnswerRequest, signal?: AbortSignal): AsyncGenerator<Answer> {
  const composed = composePrompt(request);
  const { name, folder } = requireModel(app, request.model);
  const job: GenerateJob = {
    ...{ kind: 'generate', model: resolveModelParts(folder, app.paths), maxNewTokens: request.maxTokens ?? null },
    ...{ prompt: composed.prompt, target: composed.target, temperature: request.temperature, seed: request.seed },
    ...{ backend: 'auto', threads: Math.ceil(availableParallelism() / request.lanes), kernelsFile: app.paths.kernels },
  };
  // Text comes faster than it is read: only the newest waits.
  const waiting: { newest: Pick<Answer, 'text' | 'tokens'> | null } = { newest: null };
  let wake: () => void = () => undefined;
  const started = app.jobs.start('generate', `Ask ${name}`, (context) =>
    runTrainerJob(job, app.paths.trainer, {
      signal: context.signal,
      onText: (text, tokens) => {
        waiting.newest = { text, tokens };
        wake();
      },
    }),
  );
  const ended = started.result.then(
    () => true as const,
    () => true as const,
  );
  const cancel = (): void => void app.jobs.cancel(started.id);
  signal?.addEventListener('abort', cancel);
  try {
    for (;;) {
      const more = new Promise<false>((resolve) => (wake = () => resolve(false)));
      const { newest } = waiting;
      waiting.newest = null;
      if (newest !== null) yield { ...newest, ...soFar(composed, newest.text), end: null };
      if (await Promise.race([more, ended])) break;
    }
    const { value, backend } = await started.result;
    const { text, tokens, terminated, promptTokens, seconds } = value;
    const alignment = alignCompletion(composed.target, text, 'interleave', composed.fragments);
    yield { alignment, text, tokens, end: { terminated, promptTokens, seconds, backend } };
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

/** Only whole words count, and none is missing yet: the target is taken as far as the answer goes. */
function soFar({ target, fragments }: PlaygroundPrompt, text: string): { readonly alignment: WordAlignment } {
  const whole = splitWords(text.replace(/\S+$/u, ''));
  const reached = splitWords(target).slice(0, whole.length).join(' ');
  return { alignment: alignCompletion(reached, whole.join(' '), 'interleave', fragments) };
}
