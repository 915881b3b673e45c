import { type Answer, lastNumber } from 'braid';

/** `correct`: the last number is the total. `calls`: the share of the model's calls that gave a result. */
export function reward({ record, messages = [] }: Answer<{ total: number }>) {
  const last = messages.at(-1);
  const found = last?.role === 'assistant' ? lastNumber(last.content ?? '') : null;
  const results = messages.filter(({ role }) => role === 'tool');
  const good = results.filter(({ content }) => !content?.startsWith('{"error"'));
  return {
    correct: found !== null && Math.abs(found - record.total) < 1e-6 ? 1 : 0,
    calls: results.length === 0 ? 0 : good.length / results.length,
  };
}
