/** Job: a model stays in memory and answers what it is asked, many requests at once, until it is stopped. */
import { contextLength, readModelConfig } from '../../../model/config.ts';
import { endTokens, loadTokenizer } from '../../../model/tokenizer.ts';
import type { BackendChoice } from '../../backend/open-backend.ts';
import { describeFailure } from '../../memory/failure.ts';
import { openPolicy } from '../../memory/open-policy.ts';
import { kvBytesPerToken } from '../../memory/plan.ts';
import { checkParts, type ModelParts } from '../../policy/model-parts.ts';
import type { AnswerEvent, AnswerRequest } from '../../protocol/answers.ts';
import type { JobEvent } from '../../protocol/trainer-events.ts';
import type { Inbox } from './inbox.ts';
import { checkIds, promptIds } from './prompt-ids.ts';
import { openScheduler } from './scheduler.ts';

export interface KeepModelJob extends BackendChoice {
  readonly kind: 'keep-model';
  readonly model: ModelParts;
  /** The models that other processes ask the same. */
  readonly beside: readonly ModelParts[];
}

/** Longer contexts take tables of their size, and a request more memory than most machines have. */
const LONGEST = 32_768;
/** Between heartbeats of an idle process. */
const IDLE_MS = 5000;

/** How it is asked, and answers. */
export interface Asking {
  readonly inbox: Inbox;
  emit(event: JobEvent): void;
}

/** Answers until `stop`. */
export async function runKeepModelJob({ model: parts, beside }: KeepModelJob, { inbox, emit }: Asking): Promise<null> {
  checkParts(parts);
  const tokenizer = loadTokenizer(parts.tokenizer, parts.chat);
  const config = readModelConfig(parts.base);
  const context = Math.min(contextLength(config), LONGEST);
  const { policy, activationMb, dispose } = openPolicy(parts, context, beside);
  const answer = (id: number, event: AnswerEvent): void => emit({ kind: 'answer', id, event });
  const scheduler = openScheduler(
    policy,
    { tokenizer, context, eosTokenIds: endTokens(tokenizer, config.eosTokenIds) },
    { tokens: Math.floor((activationMb * 2 ** 20) / kvBytesPerToken(config)), emit: answer },
  );
  const ask = (id: number, request: AnswerRequest): void => {
    try {
      checkIds(
        (request.bias ?? []).map(([biased]) => biased),
        config.vocabSize,
        'the logit bias',
      );
      scheduler.add(id, request, promptIds(request.prompt, tokenizer, config.vocabSize));
    } catch (error) {
      answer(id, { kind: 'failed', ...describeFailure(error) });
    }
  };
  try {
    emit({ kind: 'kept', context, hasChatTemplate: tokenizer.hasChatTemplate });
    for (;;) {
      const { commands, stop } = await inbox.take(scheduler.isIdle ? IDLE_MS : 0);
      if (stop) return null;
      for (const command of commands) {
        if (command.kind === 'ask') ask(command.id, command.request);
        else scheduler.cancel(command.id);
      }
      emit({ kind: 'alive' });
      scheduler.turn();
    }
  } finally {
    scheduler.dispose();
    dispose();
  }
}
