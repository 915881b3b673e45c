import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { describe, expect, it, vi } from 'vitest';
import { outdate } from '../../../renderer/api/outdate.ts';

/** A mounted query whose answers are given by hand. */
function asked() {
  const queries = new QueryClient();
  const answers: ((value: string) => void)[] = [];
  const queryFn = () => new Promise<string>((resolve) => answers.push(resolve));
  const observer = new QueryObserver(queries, { queryKey: ['list', 1], queryFn });
  observer.subscribe(() => undefined);
  const shown = () => observer.getCurrentResult().data;
  return { queries, answers, shown };
}

describe('outdate', () => {
  it('asks again where a change comes during the first fetch, whose answer may be older', async () => {
    const { queries, answers, shown } = asked();
    const done = outdate(queries, ['list']);
    answers[0]?.('before the change');
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.('after');
    await done;
    expect(shown()).toBe('after');
  });

  it('asks once where there is an answer already', async () => {
    const { queries, answers, shown } = asked();
    answers[0]?.('before the change');
    await vi.waitFor(() => expect(shown()).toBe('before the change'));
    const done = outdate(queries, ['list']);
    answers[1]?.('after');
    await done;
    expect([answers.length, shown()]).toEqual([2, 'after']);
  });
});
