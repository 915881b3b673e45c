import type { ChatMessage } from '../../samples/chat-message.ts';

/** What a side job can use of its process. */
export interface JobIo {
  readonly backend: { readonly name: string; readonly threads: number };
  /** Reports progress and lets the message be sent: synchronous tensor work would delay it. */
  progress(done: number, total: number, unit: string): Promise<void>;
  /** Sends a heartbeat, even during synchronous work. */
  alive(): void;
  /** Sends the text so far immediately. */
  text(text: string, tokens: number): void;
  /** Sends a conversation so far, after a turn of it, immediately. */
  messages(messages: readonly ChatMessage[], tokens: number): void;
}
