/** What reading a zip archive takes besides yauzl itself, whose functions call back. */
import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';

/** All entries of an archive that was opened with `lazyEntries`. yauzl refuses names that are absolute or lead upwards. */
export function zipEntries(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on('entry', (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
}

/** An entry's content, unpacked. yauzl checks its length and leaves the checksum to the caller. */
export function zipContent(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}
