/** The replies of a comparison's models to one post, side by side, with the human's. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../io/json.ts';
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
  /** The post as the models were given it. */
  readonly prompt: string;
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

/** The post at a place among those whose text or replies contain `search`, ignoring case; null without a report. */
export function postReplies(
  app: Pick<OpenWorkspace, 'store' | 'workspace'>,
  { search = '', at = 0 }: { readonly search?: string | undefined; readonly at?: number | undefined },
): PostPage | null {
  const report = replyReport(app);
  const file = report === null ? null : join(report.folder, 'completions.jsonl');
  if (report === null || file === null || !existsSync(file)) return null;
  const posts = new Map<string, Line[]>();
  for (const line of linesOf<Line>(file)) posts.set(line.id, [...(posts.get(line.id) ?? []), line]);
  const wanted = search.trim().toLowerCase();
  const found = [...posts.values()].filter((lines) => wanted === '' || lines.some((line) => contains(line, wanted)));
  const place = Math.min(at, Math.max(0, found.length - 1));
  const lines = found[place];
  return {
    ...{ total: posts.size, found: found.length, at: place },
    post: lines === undefined ? null : postOf(lines, report.numbers),
  };
}

function contains({ prompt, completions }: Line, wanted: string): boolean {
  return [prompt, ...completions].some((text) => text.toLowerCase().includes(wanted));
}

interface Compared {
  readonly dataset: string;
  readonly models: readonly { readonly name: string }[];
}

function postOf(lines: readonly Line[], { dataset, models }: Compared): PostReplies {
  const [{ id = '', prompt = '' } = {}] = lines;
  const inOrder = models.flatMap(({ name }) => lines.find(({ model }) => model === name) ?? []);
  return {
    ...{ id, prompt, human: humanReply(dataset, id) },
    models: inOrder.map(({ model, completions, measures }) => ({ model, replies: completions, measures })),
  };
}

function humanReply(dataset: string, id: string): string | null {
  if (!existsSync(dataset)) return null;
  const record = linesOf<{ readonly id?: unknown; readonly reply?: unknown }>(dataset).find((line) => line.id === id);
  return typeof record?.reply === 'string' ? record.reply : null;
}

/** Lines that can't be read are left out: this only shows what is there. */
function linesOf<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line.trim() === '' ? [] : [parseJson(line) as T];
      } catch {
        return [];
      }
    });
}
