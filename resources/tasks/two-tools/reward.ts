import type { Answer } from 'braid';

/** `called`: the right tool and no other, or none where none is needed. `correct`: the last turn is the answer alone. */
export function reward({ record, messages = [] }: Answer<{ kind: string; answer: string }>) {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.name));
  const failed = messages.some(({ role, content }) => role === 'tool' && content?.startsWith('{"error"'));
  const wanted = record.kind === 'say' ? [] : [record.kind];
  const last = messages.at(-1);
  const said = last?.role === 'assistant' && last.tool_calls === undefined ? last.content?.trim() : null;
  return {
    called: !failed && calls.join() === wanted.join() ? 1 : 0,
    correct: said === record.answer ? 1 : 0,
  };
}
