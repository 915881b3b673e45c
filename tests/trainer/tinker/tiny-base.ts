import { loadModel } from '../../../main/model/load.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { atEndOfFile } from '../../end-of-file.ts';
import { openTiny } from '../run/tiny-run.ts';

/** The tiny model on the disk, and loaded as the test server's base, for all tests of a file. */
export async function openTinyBase() {
  const { model: folder } = await openTiny();
  const base = loadModel(folder, 64);
  atEndOfFile(() => disposeModel(base));
  return { folder, base };
}
