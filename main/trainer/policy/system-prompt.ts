/** A model's own system prompt apart from the model, for who may be given another one. */
import { readChatSettings } from '../../model/chat-settings.ts';
import type { ModelParts } from './model-parts.ts';

export interface WithoutSystem {
  /** The same model without a system prompt of its own. */
  readonly parts: ModelParts;
  /** The one that it has: of its run, or the one whose settings it was given. */
  readonly system: string | null;
}

export function withoutSystem(parts: ModelParts): WithoutSystem {
  const chat = parts.chat ?? readChatSettings(parts.tokenizer);
  const { base, adapter, tokenizer } = parts;
  return { parts: { base, adapter, tokenizer, chat: { ...chat, system_prompt: null } }, system: chat.system_prompt };
}
