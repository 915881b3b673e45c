import { describe, expect, it } from 'vitest';
import type { ReplyRecord } from '../../../main/tasks/reply/record.ts';
import { defaultWeights, referenceOverlap, replyRewards, scoreReply } from '../../../main/tasks/reply/reward.ts';
import { replyTask } from '../../../main/tasks/reply/task.ts';

const post = 'My sourdough finally rose after three failed loaves.';
const score = (reply: string) => scoreReply(post, reply, 1);
const answer = (record: ReplyRecord, completion: string) =>
  ({ record, completion, tokens: 0, finish: 'stop' }) as const;
const components = (reply: string) => {
  const record = replyTask.parseRecord({
    id: 'x',
    post,
    reply: 'Well done, third loaf luck!',
    engagement: { likes: 0, reposts: 0, replies: 0 },
  });
  return replyTask.score([answer(record, reply)])[0]?.components ?? {};
};

describe('scoreReply', () => {
  it('gives every component between 0 and 1, and 0 for a reply without words', () => {
    const replies = [
      '',
      '?!',
      'ok',
      'What flour do you use? I love the smell!',
      post,
      'WHY '.repeat(90),
      'so so so so!!!!',
    ];
    for (const reply of replies)
      for (const value of Object.values(components(reply))) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
    expect(Object.values(components('?!'))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('finds a reply about the post relevant, one about something else not, and an echo neither', () => {
    expect(components('Which flour made the sourdough rise?').relevance).toBeGreaterThan(0.5);
    expect(components('Trains are late again today.').relevance).toBe(0);
    expect(components(post).relevance).toBe(0);
  });

  it('wants 8 to 30 words', () => {
    const words = (n: number) => score(Array.from({ length: n }, (_, i) => `word${i}`).join(' ')).length;
    expect([words(4), words(8), words(30), words(45), words(60)]).toEqual([0.5, 1, 1, 0.5, 0]);
  });

  it('takes sentiment from VADER', () => {
    // VADER's own example: compound 0.4404.
    expect(score('The book was good.').sentiment).toBeCloseTo((0.4404 + 1) / 2, 12);
  });

  it('counts different words and pairs', () => {
    // four words, one twice: 3/4; three pairs, all different: 1
    expect(score('tea and tea cakes').diversity).toBeCloseTo((3 / 4 + 1) / 2, 12);
  });

  it('wants an end mark, calm marks and no shouting', () => {
    expect(score('Nice work there.').punctuation).toBe(1);
    expect(score('Nice work there').punctuation).toBe(0.5);
    expect(score('Nice work there!!!!').punctuation).toBeCloseTo(0.7, 12);
    expect(score('NICE WORK THERE.').punctuation).toBeCloseTo(0.8, 12);
  });

  it('rewards questions, speaking to the person, and feeling', () => {
    expect(score('The loaf sits on the table.').engagement).toBe(0);
    expect(score('The loaf sits where?').engagement).toBeCloseTo(0.4, 12);
    expect(score('Is your loaf there?').engagement).toBeCloseTo(0.7, 12);
    expect(score('The book was good.').engagement).toBeCloseTo(0.3 * 0.4404, 12);
  });
});

describe('referenceOverlap', () => {
  it('is the F1 of stems', () => {
    // stems bake, bread, slowli and bake, cake: one shared
    expect(referenceOverlap('Baking bread slowly', 'She bakes cakes')).toBeCloseTo(2 / 5, 12);
    expect(referenceOverlap('the', 'a')).toBe(0);
  });
});

describe('replyTask', () => {
  it('weighs its components to a sum of 1', () => {
    expect(replyTask.rewardNames).toEqual(replyRewards);
    expect(defaultWeights.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  it('measures the weighted reward, the components and what checks them', () => {
    const record = replyTask.parseRecord({
      id: 'x',
      post,
      reply: 'Which flour?',
      engagement: { likes: 1, reposts: 0, replies: 0 },
    });
    const [measured = {}] = replyTask.measure([answer(record, 'Is your loaf good today, and which flour?')]);
    const reward = replyRewards.reduce((sum, name, i) => sum + (defaultWeights[i] ?? 0) * (measured[name] ?? 0), 0);
    expect(measured.reward).toBeCloseTo(reward, 12);
    expect(measured.reference_overlap).toBeCloseTo(2 / 5, 1);
    expect(replyTask.check?.measure([answer(record, 'Which flour?')])).toEqual([1]);
  });

  it('counts words that are rare among its records more', () => {
    const records = ['tea for breakfast', 'tea at noon', 'tea and trams by the river in Lisbon'].map((text, i) =>
      replyTask.parseRecord({
        id: String(i),
        post: text,
        reply: 'tea',
        engagement: { likes: 0, reposts: 0, replies: 0 },
      }),
    );
    const record = records[2] ?? replyTask.parseRecord({});
    const relevance = (reply: string) =>
      replyTask.fit(records).score([answer(record, reply)])[0]?.components.relevance ?? 0;
    expect(relevance('Lisbon')).toBeGreaterThan(relevance('tea'));
  });
});
