import { describe, expect, it } from 'vitest';
import { engagementCount, parseReplyRecord } from '../../../main/tasks/reply/record.ts';

const good = { id: 'r1', post: 'Rain again.', reply: 'Tea then.', engagement: { likes: 3, reposts: 1, replies: 2 } };

describe('parseReplyRecord', () => {
  it('adds the prompt that the post is put in, verbatim, or keeps the one that the record brings', () => {
    const record = parseReplyRecord({ ...good, post: 'Costs $& {post}' });
    expect(record.prompt).toBe('Write a short reply to this post.\nPost: Costs $& {post}\nReply:');
    expect(parseReplyRecord({ ...good, prompt: 'Say something' }).prompt).toBe('Say something');
  });

  it.each([
    [{ ...good, reply: ' ' }, 'expected "reply" to be a string with at least one word, got " "'],
    [{ ...good, reply: undefined }, 'expected "reply" to be a string, got nothing'],
    [
      { ...good, engagement: undefined },
      'expected "engagement" to be an object {likes, reposts, replies}, got nothing',
    ],
    [
      { ...good, engagement: { ...good.engagement, likes: -1 } },
      'expected "engagement.likes" to be a whole number of at least 0, got -1',
    ],
    [7, 'expected an object with the fields of a reply record: id, post, reply, engagement, got 7'],
  ])('refuses %o', (value, message) => {
    expect(() => parseReplyRecord(value)).toThrow(message);
  });
});

describe('engagementCount', () => {
  it('counts reposts and replies twice', () => {
    expect(engagementCount(good.engagement)).toBe(9);
  });
});
