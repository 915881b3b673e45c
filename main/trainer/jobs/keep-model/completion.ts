/** One completion while it is generated. */
import { type ChosenToken, chooseToken, type RowSampling, type ScoredToken } from '../../../model/chosen-token.ts';
import { cutAfterStop, type StopTest } from '../../../model/stop-strings.ts';
import { openTextFlow } from '../../../model/text-flow.ts';
import type { Spelling } from '../../../model/token-bytes.ts';
import type { Tokenizer } from '../../../model/tokenizer.ts';
import { keepingMarks, openCallFlow } from '../../../model/tool-calls/flow.ts';
import { hash32, hashString, uniform } from '../../../random.ts';
import type { AnswerAlternative, AnswerEvent, AnswerRequest, AnswerToken } from '../../protocol/answers.ts';

export interface Completion {
  /** Chooses the next token after these logits [V]; null: it was the last. */
  next(logits: Float32Array): number | null;
  /** Ends it as one that was cut off. */
  cut(): null;
}

/** What all completions of a model share. */
export interface CompletionContext {
  readonly tokenizer: Pick<Tokenizer, 'decode' | 'tokenId'>;
  /** What ends an answer in a conversation, besides what is asked for: it was trained to end there. */
  readonly trained?: TrainedStops | undefined;
  readonly spelling: (id: number) => Spelling;
  readonly eosTokenIds: readonly number[];
}

/** The texts with which a model's completions ended in training, which stay in them. */
export interface TrainedStops {
  readonly strings: readonly string[];
  readonly isAt: StopTest;
}

const ANSWER_STREAM = hashString('answer');

/** Opens the `choice`-th completion of a request; `limit`: of its tokens. */
export function openCompletion(
  { tokenizer, spelling, eosTokenIds, trained }: CompletionContext,
  request: AnswerRequest,
  prompt: readonly number[],
  choice: number,
  limit: number,
  emit: (event: AnswerEvent) => void,
): Completion {
  const calls =
    request.prompt.kind === 'messages' && request.prompt.tools !== undefined
      ? openCallFlow(request.prompt.tools)
      : null;
  const flow = openTextFlow<AnswerToken>(
    calls === null ? tokenizer : keepingMarks(tokenizer),
    request.stop,
    // An answer in a conversation is a text of its own.
    request.prompt.kind === 'messages' ? [] : prompt,
  );
  const stops = request.prompt.kind === 'messages' ? trained : undefined;
  const sampling = samplingOf(request);
  const base = hash32(request.seed, ANSWER_STREAM, choice);
  const ids: number[] = [];
  let said = '';
  const show = (text: string, tokens: readonly AnswerToken[]): void => {
    said += text;
    const words = calls === null ? text : calls.push(text);
    if (words !== '' || tokens.length > 0) emit({ kind: 'delta', choice, text: words, tokens });
  };
  const end = (finish: 'stop' | 'length'): null => {
    const { words = '', calls: called = [] } = calls?.end() ?? {};
    if (words !== '') emit({ kind: 'delta', choice, text: words, tokens: [] });
    emit({ kind: 'ended', choice, finish, tokens: ids.length, ...(called.length > 0 && { calls: called }) });
    return null;
  };
  const cut = (): null => {
    const { text, tokens } = flow.end();
    show(text, tokens);
    return end('length');
  };
  return {
    cut,
    next: (logits) => {
      const chosen = chooseToken(logits, sampling, () => [...prompt, ...ids], uniform(base, ids.length));
      const { id } = chosen;
      ids.push(id);
      const token = tokenOf(chosen, spelling);
      if (eosTokenIds.includes(id)) {
        const { text, tokens } = flow.end();
        show(text, [...tokens, token]);
        return end('stop');
      }
      const { text, tokens, stopped } = flow.push(id, token);
      if (!stopped && stops?.isAt(prompt, ids) === true) {
        const rest = flow.end();
        const whole = cutAfterStop(said + text + rest.text, stops.strings);
        show(whole.slice(said.length), [...tokens, ...rest.tokens]);
        return end('stop');
      }
      show(text, tokens);
      if (stopped) return end('stop');
      return ids.length < limit ? id : cut();
    },
  };
}

/** A token as it is reported. */
export function tokenOf({ id, logprob, top }: ChosenToken, spelling: (id: number) => Spelling): AnswerToken {
  const alternative = (one: ScoredToken): AnswerAlternative => ({ ...one, ...spelling(one.id) });
  return { id, ...spelling(id), logprob: Number.isNaN(logprob) ? null : logprob, top: top.map(alternative) };
}

function samplingOf(request: AnswerRequest): RowSampling {
  const { temperature, topP, topK, minP, repetitionPenalty, logprobs: top, bias } = request;
  const options = { temperature, topP, topK, minP, repetitionPenalty, top };
  return bias === undefined ? options : { ...options, bias: new Map(bias) };
}
