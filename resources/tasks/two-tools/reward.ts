import type { Answer } from 'braid';

/** `called`: the right tool and no other, or none where none is needed. `found`: a tool, or else the model, says the answer. */
export function reward({ record, completion, messages = [] }: Answer<{ kind: string; answer: string }>) {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.name));
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  const failed = results.some((content) => content?.startsWith('{"error"'));
  const wanted = record.kind === 'say' ? [] : [record.kind];
  const isRight = record.kind === 'say' ? completion.trim() === record.answer : results.includes(record.answer);
  return { called: !failed && calls.join() === wanted.join() ? 1 : 0, found: isRight ? 1 : 0 };
}
