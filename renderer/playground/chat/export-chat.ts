/** Saves a conversation as a JSONL file: a line of messages for each model. */
import { beginning } from '../../components/beginning.ts';
import { saveFile } from '../../components/save-file.ts';
import { type Chat, jsonLines } from './conversation.ts';

export function exportChat(title: string, chat: Chat, nameOf: (ref: string) => string): void {
  saveFile(`${fileName(title)}.jsonl`, new Blob([jsonLines(chat, nameOf)], { type: 'application/jsonl' }));
}

/** A title as a name that every system takes. */
function fileName(title: string): string {
  const plain = title.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '');
  return beginning(plain, 60) || 'conversation';
}
