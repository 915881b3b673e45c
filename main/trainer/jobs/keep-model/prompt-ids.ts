/** A prompt as the model's tokens. */
import { inputError } from '../../../errors.ts';
import { plain } from '../../../model/jinja/text.ts';
import { encodePrompt, type Tokenizer } from '../../../model/tokenizer.ts';
import { describedTools } from '../../../model/tool-prompt.ts';
import { plainLines, shownText } from '../../../samples/chat-message.ts';
import { checkTokens } from '../../batching/prompts.ts';
import type { AnswerPrompt } from '../../protocol/answers.ts';

/** Of messages by the chat template, or below each other where there is none; of a text with its control tokens. */
export function promptIds(prompt: AnswerPrompt, tokenizer: Tokenizer, vocabSize: number): readonly number[] {
  const ids = idsOf(prompt, tokenizer);
  if (ids.length === 0) throw inputError('EMPTY_PROMPT', 'Expected a prompt of at least one token, got none');
  if (prompt.kind === 'ids') checkIds(ids, vocabSize, 'the prompt');
  checkTokens(ids, tokenizer, vocabSize, 'the prompt');
  return ids;
}

/** Ids that a caller gives: those of another model's tokenizer are not dropped without a word. */
export function checkIds(ids: readonly number[], vocabSize: number, where: string): void {
  const wrong = ids.find((id) => id < 0 || id >= vocabSize);
  if (wrong !== undefined)
    throw inputError('BAD_TOKEN', `Expected token ids from 0 to ${vocabSize - 1} in ${where}, got ${wrong}`);
}

function idsOf(prompt: AnswerPrompt, tokenizer: Tokenizer): readonly number[] {
  switch (prompt.kind) {
    case 'ids':
      return prompt.ids;
    case 'text':
      return tokenizer.encode(prompt.text, true);
    case 'messages': {
      const { messages, tools } = prompt;
      const quoted = messages.map(shownText);
      if (tokenizer.hasChatTemplate || !tools?.length)
        return encodePrompt(tokenizer, plainLines(messages), quoted, messages, tools);
      // As in training: no template would tell the model of them.
      const told = `${plain(describedTools(tools))}\n\n${plainLines(messages)}`;
      return encodePrompt(tokenizer, told, [...quoted, ...tools.map((tool) => JSON.stringify(tool))]);
    }
  }
}
