/** The reply system as one screen shows it. */
import { existsSync, readFileSync } from 'node:fs';
import type { App } from '../app.ts';
import { replyData } from './data.ts';
import { type ReplyMemory, readMemory, type SplitRecord } from './memory.ts';
import { type MethodView, methodViews, phaseFiles } from './methods.ts';

export interface ReplyDesk {
  readonly data: {
    readonly name: string;
    readonly bundled: boolean;
    readonly records: number;
    readonly heldOut: number;
  };
  /** null: none, or its files are gone. */
  readonly split: SplitRecord | null;
  readonly methods: readonly MethodView[];
  readonly trial: ReplyMemory['trial'];
}

export function replyDesk(app: Pick<App, 'store' | 'workspace' | 'paths' | 'live'>): ReplyDesk {
  const { name, bundled, train, test } = replyData(app);
  const { split, trial } = readMemory(app.store);
  return {
    data: { name, bundled, records: lines(train), heldOut: lines(test) },
    split: phaseFiles(app.workspace).every((file) => existsSync(file)) ? split : null,
    methods: methodViews(app),
    trial,
  };
}

/** Records that were checked when they came in; 0 where the file is gone since. */
function lines(file: string): number {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '').length
    : 0;
}
