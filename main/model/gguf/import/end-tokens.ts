/** Which tokens end an answer: a file often names the end of a document, where its chat template ends a turn with another. */
import type { Tokenizer } from '../../tokenizer.ts';

/** The control token that the chat template puts after an answer; null: none, or it has no template. */
export function endOfTurn(tokenizer: Tokenizer): number | null {
  if (!tokenizer.hasChatTemplate) return null;
  const answer = 'zq';
  const rendered = tokenizer.chat(
    [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: answer },
    ],
    false,
  );
  const at = rendered.lastIndexOf(answer);
  if (at < 0) return null;
  const [first] = tokenizer.controlTokens(rendered.slice(at + answer.length));
  return first === undefined ? null : (tokenizer.tokenId(first) ?? null);
}
