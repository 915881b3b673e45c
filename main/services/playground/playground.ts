/** Trying a model on two texts: the prompt, and the completion as it is generated. */
import { inputError } from '../../errors.ts';
import { checkTemplate, processTemplate, renderPrompt } from '../../tasks/interleave/prompt.ts';
import { interleaveWords } from '../../tasks/interleave/target.ts';
import { sourceWords } from '../../text/source-words.ts';
import { alignCompletion, type FragmentLengths, type WordAlignment } from '../../text/word-alignment.ts';
import { splitWords } from '../../text/words.ts';
import type { GenerateJob } from '../../trainer/jobs/generate-text.ts';
import type { ModelPlaces } from '../models/list.ts';
import { type LaneRequest, openLane } from './lane.ts';
import { type StreamPlace, streamJob } from './stream.ts';

export interface PromptRequest {
  readonly a: string;
  readonly b: string;
  /** Words of each text, from the start; undefined: all. */
  readonly words?: number | undefined;
  /** Text of a prompt template; undefined: the built-in one. */
  readonly template?: string | undefined;
}

export interface PlaygroundPrompt {
  readonly prompt: string;
  readonly target: string;
  readonly fragments: FragmentLengths;
  /** The target with its strands. */
  readonly alignment: WordAlignment;
}

export interface AnswerRequest extends PromptRequest, LaneRequest {
  readonly temperature: number;
  readonly seed: number;
  /** In tokens; undefined: the target's length plus a margin. */
  readonly maxTokens?: number | undefined;
}

/** The completion so far: its complete words against the same number of target words; at the end, against all of them. */
export interface Answer {
  readonly kind: 'texts';
  readonly alignment: WordAlignment;
  readonly text: string;
  readonly tokens: number;
  /** Null while it is being generated. */
  readonly end: AnswerEnd | null;
}

export interface AnswerEnd {
  readonly terminated: boolean;
  readonly promptTokens: number;
  readonly seconds: number;
  readonly backend: string;
  /** The model whose system prompt and switches it was given; null: its own, or none. */
  readonly askedAs: string | null;
}

/** Words of one text: the longest stage has 500. */
export const MAX_WORDS = 1000;

/** The prompt and target of two texts; errors name the text that is empty or too long. */
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
  const words = sourceWords(text).slice(0, most ?? Number.POSITIVE_INFINITY);
  if (words.length === 0)
    throw inputError('TEXT_EMPTY', `Expected text ${name} to have at least one word, got none`, `Write text ${name}.`);
  if (words.length <= MAX_WORDS) return words;
  throw inputError(
    'TEXT_TOO_LONG',
    `Expected text ${name} to have at most ${MAX_WORDS} words, got ${words.length}`,
    'Shorten it, or set how many words of each text to use.',
  );
}

type Place = ModelPlaces & StreamPlace;

/** A model's completion, emitted repeatedly as it is generated; invalid input throws before a process is started. */
export async function* answer(app: Place, request: AnswerRequest, signal?: AbortSignal): AsyncGenerator<Answer> {
  const composed = composePrompt(request);
  const { a, b, words } = request;
  const quoted = [fragment(a, 'A', words), fragment(b, 'B', words)].map((own) => own.join(' '));
  const { name, model, beside, askedAs, threads } = openLane(app, request);
  const job: GenerateJob = {
    kind: 'generate',
    model,
    beside,
    maxNewTokens: request.maxTokens ?? null,
    prompt: composed.prompt,
    quoted,
    target: composed.target,
    temperature: request.temperature,
    seed: request.seed,
    backend: 'auto',
    threads,
    kernelsFile: app.paths.kernels,
  };
  const { value, backend } = yield* streamJob<GenerateJob, Answer>(
    app,
    job,
    name,
    (show) => ({
      onText: (text, tokens) => show({ kind: 'texts', text, tokens, ...soFar(composed, text), end: null }),
    }),
    signal,
  );
  const { text, tokens, terminated, promptTokens, seconds } = value;
  const alignment = alignCompletion(composed.target, text, 'interleave', composed.fragments);
  yield { kind: 'texts', alignment, text, tokens, end: { terminated, promptTokens, seconds, backend, askedAs } };
}

/** Only complete words count, and none is missing yet: the target is cut to the completion's length. */
function soFar({ target, fragments }: PlaygroundPrompt, text: string): { readonly alignment: WordAlignment } {
  const whole = splitWords(text).slice(0, /\s$/u.test(text.slice(-1)) ? undefined : -1);
  const reached = splitWords(target).slice(0, whole.length).join(' ');
  return { alignment: alignCompletion(reached, whole.join(' '), 'interleave', fragments) };
}
