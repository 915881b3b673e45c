/** The host's folders: browsed by a page, and opened to it by the user. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ListedFolder } from '../../services/workspace/host-folders.ts';
import { list, path, procedure } from './base.ts';

/** A place of the host: what is there, or the question that opens it. */
export type HostPlace =
  | {
      readonly kind: 'open';
      /** Absolute, without links. */
      readonly path: string;
      readonly isFolder: boolean;
    }
  | {
      readonly kind: 'outside';
      /** What would be opened, with all it contains. */
      readonly folder: string;
      readonly question: string;
    };

export type BrowsedFolder =
  | ({ readonly kind: 'listed' } & ListedFolder)
  | Extract<HostPlace, { readonly kind: 'outside' }>;

export const folders = {
  /** Where to start: the workspace, the home folder and what else is open. */
  places: procedure.output(
    type<{ readonly workspace: string; readonly home: string; readonly allowed: readonly string[] }>(),
  ),
  /** Where a path leads; `~` is the home folder. */
  find: procedure.input(z.object({ path })).output(type<HostPlace>()),
  /** What a folder contains, or the folder of a file. */
  browse: procedure
    .input(
      z.object({
        path,
        /** Files to list, by their endings. */
        endings: list(z.string().regex(/^\.\w{1,16}$/), { max: 30 }).default([]),
        /** The file by which folders are recognised. */
        sign: z.enum(['config.json', 'task.yaml']).nullable().default(null),
        filter: z.string().max(200).default(''),
      }),
    )
    .output(type<BrowsedFolder>()),
  /** The user's yes to a question; on the desktop a window of the system asks again. */
  allow: procedure.input(z.object({ question: z.string().max(100) })).output(z.object({ allowed: z.boolean() })),
  /** Closes a folder that was allowed. */
  forget: procedure.input(z.object({ folder: path })),
};
