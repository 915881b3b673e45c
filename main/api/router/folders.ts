import { homedir } from 'node:os';
import { listFolder } from '../../services/workspace/host-folders.ts';
import { api } from '../context.ts';
import { folderOf, lookAt } from '../folder-questions.ts';

export const folders = {
  places: api.folders.places.handler(({ context: { app, access } }) => ({
    workspace: app.workspace.root,
    home: homedir(),
    allowed: access.kept(),
  })),
  find: api.folders.find.handler(({ context: { access }, input }) => {
    const place = lookAt(access, input.path);
    return place.kind === 'outside' ? place : { kind: 'open', path: place.at, isFolder: place.isFolder };
  }),
  browse: api.folders.browse.handler(({ context: { access }, input: { path, ...looked } }) => {
    const place = lookAt(access, path);
    return place.kind === 'outside' ? place : { kind: 'listed', ...listFolder(place.folder, looked) };
  }),
  allow: api.folders.allow.handler(async ({ context: { host, access }, input }) => {
    const folder = folderOf(access, input.question);
    const allowed =
      (await host.dialogs?.confirm({
        message: `Open ${folder} to Braid?`,
        detail: 'Braid then reads files in it, and writes exports to new folders in it, whenever you choose one.',
        action: 'Allow',
      })) ?? true;
    if (allowed) access.keep(folder);
    return { allowed };
  }),
  forget: api.folders.forget.handler(({ context: { access }, input }) => access.forget(input.folder)),
};
