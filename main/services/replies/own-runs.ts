/** Which runs belong to the page's records: those of an earlier import, or of another split, have the same names. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { RunRow } from '../../store/runs.ts';
import { evaluationDataset } from '../runs/evaluation.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { replyData } from './data.ts';
import { readReplyState } from './stored-state.ts';

type Places = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

/** Runs that were evaluated on the page's held-out posts; by name, as the app's own files move with it. */
export function runsOfData(app: Places): (run: RunRow) => boolean {
  const test = basename(replyData(app).test);
  return (run) => basename(evaluationDataset(run)) === test;
}

/** Those of them that were trained on this part of the present split. */
export function runsOfSplit(app: Places, part: string): (run: RunRow) => boolean {
  const isOfData = runsOfData(app);
  const since = readReplyState(app.store).split?.at ?? 0;
  return (run) => {
    if (!isOfData(run)) return false;
    const own = resolve(app.workspace.root, run.dataset);
    // A complete run has files of its own.
    if (own !== part && existsSync(own)) return isSame(own, part);
    return basename(own) === basename(part) && run.createdAt >= since;
  };
}

function isSame(a: string, b: string): boolean {
  return existsSync(b) && statSync(a).size === statSync(b).size && readFileSync(a).equals(readFileSync(b));
}
