import { type Answer, lastNumber } from 'braid';

/** The tags are rewarded a little by themselves; the answer counts only between its tags. */
export function reward({ record, completion }: Answer<{ answer: number }>): Record<string, number> {
  const answer = /<answer>([^<]*)<\/answer>\s*$/.exec(completion)?.[1];
  const found = answer === undefined ? null : lastNumber(answer);
  return {
    correct: found !== null && Math.abs(found - record.answer) < 1e-6 ? 1 : 0,
    think: /^\s*<think>[\s\S]+<\/think>/.test(completion) ? 1 : 0,
    answer: answer === undefined ? 0 : 1,
  };
}

/** 1 for a completion that ended by itself within 200 tokens. */
export function check({ tokens, finish }: Answer): number {
  return finish === 'stop' && tokens <= 200 ? 1 : 0;
}
