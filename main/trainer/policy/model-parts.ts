/** Where the parts of a model lie, and what its files say before any of its weights are loaded. */
import type { ChatSettings } from '../../model/chat-settings.ts';
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
