/** The context of procedures: the open app, and what only its host can do. */
import { implement } from '@orpc/server';
import type { App } from '../services/app/app.ts';
import { contract } from './contract/index.ts';
import { explained, patient } from './failures.ts';
import type { PageRequests } from './page-requests.ts';
import { plainInput } from './plain-input.ts';

/** What the host adds to the app. */
export interface PageHost {
  readonly kind: 'electron' | 'serve';
  readonly version: string;
  /** Whether its page may bring what runs as this machine's user: commands that start servers, native code. */
  readonly mayLaunch: boolean;
  /** Native dialogs; null without a desktop. */
  readonly dialogs: Dialogs | null;
  /** Asks the user for another workspace, then restarts with it. */
  readonly openWorkspace?: () => void;
  /** Requests from the host to its page; none in a browser. */
  readonly requests?: PageRequests;
}

export interface Dialogs {
  chooseFolder(title: string): Promise<string | null>;
  chooseFiles(title: string): Promise<string[]>;
  reveal(path: string): void;
  /** Asks in a window of the system, which no page can answer; `action` names the button that agrees. */
  confirm(question: { readonly message: string; readonly detail: string; readonly action: string }): Promise<boolean>;
}

export interface ApiContext {
  readonly app: App;
  readonly host: PageHost;
  /** Paths outside the workspace that the user has opened to this host. */
  readonly access: PathAccess;
}

/** Which paths a page may use. */
export interface PathAccess {
  /** Allows a file, or a folder and its contents. */
  allow(path: string): void;
  /** The absolute path, or throws PATH_OUTSIDE. Symbolic links are resolved first. */
  check(path: string): string;
  /** Where a path leads, open or not; whether that is the user's own configuration. */
  locate(path: string): { readonly at: string; readonly isOpen: boolean; readonly isOwn: boolean };
  /** Opens a folder, without links, that the user has agreed to, now and in later sessions. */
  keep(folder: string): void;
  /** Those folders. */
  kept(): readonly string[];
  /** Closes one of them. */
  forget(folder: string): void;
}

/** The implementer of the contract: every procedure's failures leave it typed and in words, and none gets odd input. */
export const api = implement(contract).$context<ApiContext>().use(explained).use(patient).use(plainInput);
