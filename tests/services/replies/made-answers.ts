/** Replies of the four methods to the bundled sample's posts, made up from the sample's own grammar, for pictures. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fill, MOODS, type Mood, SUBJECTS } from '../../../scripts/reply-sample/grammar.ts';

export const sampleReplies = join(resolve(import.meta.dirname, '../../..'), 'datasets/sample_replies.test.jsonl');

export interface MadeAnswers {
  readonly id: string;
  readonly prompt: string;
  readonly completions: readonly string[];
}

const [joy, trouble] = MOODS as [Mood, Mood, ...Mood[]];
const said = ['So true!', 'Great post.', 'Thanks for sharing this.', 'I feel the same.'];

/** What each method answers: indices into the mood's replies; the baseline often mistakes the mood. */
const choices: Readonly<Record<string, (mood: Mood, at: number) => readonly string[]>> = {
  baseline: (mood, at) => {
    const { replies: other } = mood === joy ? trouble : joy;
    return [said[at % 4] ?? '', other[at % 6] ?? '', mood.replies[at % 6] ?? '', said[(at + 1) % 4] ?? ''];
  },
  polychromic: ({ replies }, at) => [
    replies[(at + 2) % 6] ?? '',
    joy.replies[at % 6] ?? '',
    said[at % 4] ?? '',
    '{thing}?',
  ],
  grpo_from_baseline: ({ replies }, at) => [0, 0, 1, 0].map((i) => replies[(at + i) % 6] ?? ''),
  polychromic_grpo: ({ replies }, at) => [0, 1, 3, 4].map((i) => replies[(at + i) % 6] ?? ''),
};

/** Of one method, for the first posts of the sample. */
export function madeAnswers(method: string, posts: number): readonly MadeAnswers[] {
  const choose = choices[method];
  if (choose === undefined) throw new Error(`Expected one of the four methods, got ${method}`);
  const lines = readFileSync(sampleReplies, 'utf8').split('\n').slice(0, posts);
  return lines.map((line, at) => {
    const { id, post } = JSON.parse(line) as { id: string; post: string };
    const [thing = '', part = ''] = SUBJECTS.find(([name]) => post.includes(name)) ?? [];
    const mood = MOODS.find(({ posts: kinds }) => kinds.some((kind) => fill(kind, thing, part) === post)) ?? joy;
    return { id, prompt: post, completions: choose(mood, at).map((reply) => capital(fill(reply, thing, part))) };
  });
}

function capital(reply: string): string {
  return reply.charAt(0).toUpperCase() + reply.slice(1);
}
