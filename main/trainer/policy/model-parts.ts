/** Where the parts of a model lie, and what its files say before any of its weights are loaded. */
import { type ChatSettings, readChatSettings } from '../../model/chat-settings.ts';
import { checkChecksums } from '../../model/checksums.ts';

/** The folders of a model's parts. */
export interface ModelParts {
  /** Folder with config.json and the full weights. */
  readonly base: string;
  /** Folder of the LoRA adapter over them, if any. */
  readonly adapter: string | null;
  /** Folder with the tokenizer: the checkpoint's own if it has one. */
  readonly tokenizer: string;
  /** How it is asked, in place of what the tokenizer's folder says. */
  readonly chat?: ChatSettings;
}

/** Rejects a model with a damaged folder, before reading any of it. */
export function checkParts({ base, adapter, tokenizer }: ModelParts): void {
  for (const folder of new Set([base, adapter ?? base, tokenizer])) checkChecksums(folder);
}

export interface WithoutSystem {
  /** The same model without a system prompt of its own. */
  readonly parts: ModelParts;
  /** The one that it has: of its run, or the one whose settings it was given. */
  readonly system: string | null;
}

/** A model's own system prompt apart from the model, for who may be given another one. */
export function withoutSystem(parts: ModelParts): WithoutSystem {
  const chat = parts.chat ?? readChatSettings(parts.tokenizer);
  const { base, adapter, tokenizer } = parts;
  return { parts: { base, adapter, tokenizer, chat: { ...chat, system_prompt: null } }, system: chat.system_prompt };
}
