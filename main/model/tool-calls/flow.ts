/** A turn that may call tools, while it is written: its words as they come, its calls at the end. */
import type { ChatTool, ToolCall } from '../../samples/chat-message.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { CALL_MARKS, PART_MARKS, readToolCalls, wordsBeforeCalls } from './read.ts';

export interface CallFlow {
  /** Adds text, and gives the words in it and in what was held back. */
  push(text: string): string;
  /** The words that are left, and the calls. */
  end(): { readonly words: string; readonly calls: readonly ToolCall[] };
}

export function openCallFlow(tools: readonly ChatTool[]): CallFlow {
  let [text, shown] = ['', 0];
  return {
    push: (more) => {
      text += more;
      const words = text.slice(shown, Math.max(shown, wordsBeforeCalls(text)));
      shown += words.length;
      return words;
    },
    end: () => {
      const { content, calls } = readToolCalls(text, tools);
      return { words: calls.length > 0 ? '' : content.slice(shown), calls };
    },
  };
}

/** Decodes with the control tokens that begin, part and end calls. */
export function keepingMarks({ decode, tokenId }: Pick<Tokenizer, 'decode' | 'tokenId'>): Pick<Tokenizer, 'decode'> {
  const marks = new Map(
    [...CALL_MARKS, ...PART_MARKS].flatMap((mark) => {
      const id = tokenId(mark);
      return id === undefined ? [] : [[id, mark] as const];
    }),
  );
  return {
    decode: (ids) => {
      const parts: string[] = [];
      let from = 0;
      ids.forEach((id, i) => {
        const mark = marks.get(id);
        if (mark === undefined) return;
        parts.push(decode(ids.slice(from, i)), mark);
        from = i + 1;
      });
      return from === 0 ? decode(ids) : [...parts, decode(ids.slice(from))].join('');
    },
  };
}
