/** The app itself: what it is, how it stands, what changes. */
import { eventIterator, type } from '@orpc/contract';
import { z } from 'zod';
import type { AppStatus } from '../../services/app-status.ts';
import type { Change } from '../../services/changes.ts';
import type { Check, Examined } from '../../services/doctor.ts';
import type { PageRequest } from '../page-requests.ts';
import { id, procedure } from './base.ts';

export interface AppInfo {
  readonly version: string;
  readonly host: 'electron' | 'serve';
  readonly workspace: string;
  /** Whether `chooseFolder` and `chooseFiles` can open a dialog; else paths are typed. */
  readonly dialogs: boolean;
}

export const app = {
  info: procedure.output(type<AppInfo>()),
  status: procedure.output(type<AppStatus>()),
  /** Batches of what changed, from now on. A reader that was away fetches all it shows anew. */
  changes: procedure.output(eventIterator(type<readonly Change[]>())),
  /** What the desktop's menus and opened files ask the page to do, one at a time; ends at once in a browser. */
  requests: procedure.output(eventIterator(type<PageRequest>())),
  /** Looks at this machine, for a second or so of the processor. */
  doctor: procedure.output(type<readonly Check[]>()),
  /** What the doctor found not long ago; null: it has to look. */
  examined: procedure.output(type<Examined | null>()),
  dismissNotice: procedure.input(z.object({ id })),
  cancelJob: procedure.input(z.object({ id })).output(z.object({ cancelled: z.boolean() })),
  /** A folder that the person chose in the host's dialog; null: none. Its files may then be read. */
  chooseFolder: procedure.input(z.object({ title: z.string().max(200) })).output(z.string().nullable()),
  chooseFiles: procedure.input(z.object({ title: z.string().max(200) })).output(z.array(z.string())),
  /** Asks for another workspace and starts again with it; only on the desktop. */
  openWorkspace: procedure,
  /** Shows a path of the workspace in the system's file manager. */
  reveal: procedure.input(z.object({ path: z.string().max(4096) })),
};
