/** `npm run docs`: writes the documents as a site with search into out/docs. Needs no network, and no server to read. */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { siteFiles } from './site.ts';

const out = resolve(import.meta.dirname, '../../out/docs');
rmSync(out, { recursive: true, force: true });
const files = siteFiles();
for (const [place, content] of files) {
  const file = join(out, place);
  mkdirSync(dirname(file), { recursive: true });
  if (typeof content === 'string') writeFileSync(file, content);
  else copyFileSync(content.copy, file);
}
console.log(`${files.size} files in ${out}: open ${join(out, 'index.html')}`);
