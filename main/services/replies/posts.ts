/** The replies of a comparison's models to one post, side by side, with the human's. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';
import { folded } from '../../text/folded.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { replyReport } from './report.ts';

/** One model's replies to a post. */
export interface ModelReplies {
  readonly model: string;
  readonly replies: readonly string[];
  /** Means over its replies to this post, by metric; null where a metric has no value. */
  readonly measures: Readonly<Record<string, number | null>>;
}

export interface PostReplies {
  readonly id: string;
  /** The post; what the models were asked, with the post in it, if the records are gone. */
  readonly text: string;
  /** The reply of the data; null if the records are gone. */
  readonly human: string | null;
  /** In the order of the comparison. */
  readonly models: readonly ModelReplies[];
}

export interface PostPage {
  /** Posts of the comparison, and those that the search finds. */
  readonly total: number;
  readonly found: number;
  /** Its place among those found, from 0. */
  readonly at: number;
  /** null: nothing was found. */
  readonly post: PostReplies | null;
}

/** A line of completions.jsonl. */
interface Line {
  readonly model: string;
  readonly id: string;
  readonly prompt: string;
  readonly completions: readonly string[];
  readonly measures: Readonly<Record<string, number | null>>;
}

/** What is shown of a record of the data. */
interface ReplyRecord {
  readonly id?: unknown;
  readonly post?: unknown;
  readonly reply?: unknown;
}

/** The post at a place among those whose text or replies contain `search`, ignoring case; null without a report. */
export function postReplies(
  app: Pick<OpenWorkspace, 'store' | 'workspace'>,
  { search = '', at = 0 }: { readonly search?: string | undefined; readonly at?: number | undefined },
): PostPage | null {
  const report = replyReport(app);
  const file = report === null ? null : join(report.folder, 'completions.jsonl');
  if (report === null || file === null || !existsSync(file)) return null;
  const { dataset, models } = report.numbers;
  const records = existsSync(dataset) ? linesOf<ReplyRecord>(dataset) : [];
  const recordOf = new Map(records.map((record) => [record.id, record]));
  const linesOfPosts = Map.groupBy(linesOf<Line>(file), ({ id }) => id);
  const posts = [...linesOfPosts].map(([id, lines]) => postOf(lines, models, recordOf.get(id)));
  const wanted = folded(search.trim());
  const found = posts.filter((post) => wanted === '' || contains(post, wanted));
  const place = Math.min(at, Math.max(0, found.length - 1));
  return { total: posts.length, found: found.length, at: place, post: found[place] ?? null };
}

function contains({ text, models }: PostReplies, wanted: string): boolean {
  return [text, ...models.flatMap(({ replies }) => replies)].some((part) => folded(part).includes(wanted));
}

function postOf(
  lines: readonly Line[],
  models: readonly { readonly name: string }[],
  record: ReplyRecord | undefined,
): PostReplies {
  const [{ id = '', prompt = '' } = {}] = lines;
  const inOrder = models.flatMap(({ name }) => lines.find(({ model }) => model === name) ?? []);
  return {
    id,
    text: typeof record?.post === 'string' ? record.post : prompt,
    human: typeof record?.reply === 'string' ? record.reply : null,
    models: inOrder.map(({ model, completions, measures }) => ({ model, replies: completions, measures })),
  };
}

/** Lines that can't be read are left out: this only shows what is there. */
function linesOf<T>(file: string): T[] {
  return readRegular(file)
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line.trim() === '' ? [] : [parseJson(line) as T];
      } catch {
        return [];
      }
    });
}
