/** What procedures work on: the open app, and what only its host can do. */
import { implement } from '@orpc/server';
import type { App } from '../services/app.ts';
import { contract } from './contract/index.ts';
import { explained } from './failures.ts';
import type { PageRequests } from './page-requests.ts';

/** What the host adds to the app. */
export interface PageHost {
  readonly kind: 'electron' | 'serve';
  readonly version: string;
  /** Native dialogs; null where there is no desktop. */
  readonly dialogs: Dialogs | null;
  /** Asks the person for another workspace, then starts again with it. */
  readonly openWorkspace?: () => void;
  /** What the host asks of its page; none where the browser's own bars do. */
  readonly requests?: PageRequests;
}

export interface Dialogs {
  chooseFolder(title: string): Promise<string | null>;
  chooseFiles(title: string): Promise<string[]>;
  reveal(path: string): void;
}

export interface ApiContext {
  readonly app: App;
  readonly host: PageHost;
  /** Paths outside the workspace that a person has opened to this host. */
  readonly access: PathAccess;
}

/** Which paths a page may name. */
export interface PathAccess {
  /** Opens a file or a folder with all in it. */
  allow(path: string): void;
  /** The absolute path, or PATH_OUTSIDE. Links are followed before the answer. */
  check(path: string): string;
}

/** The implementer of the contract: every procedure's failures leave it typed and in words. */
export const api = implement(contract).$context<ApiContext>().use(explained);
