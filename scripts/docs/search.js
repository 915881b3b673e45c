/** The search of the documents' site: sections by their words, also from a disk, so all of it is in scripts. */
const { MiniSearch, sections } = globalThis;
const base = document.documentElement.dataset.base;
const input = document.getElementById('search');
const list = document.getElementById('found');
const AROUND = 80;
const SHOWN = 12;

const search = new MiniSearch({
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading', 'text', 'place'],
  searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
});
search.addAll(sections);

/** The text around the first word found. */
function excerpt(text, terms) {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - AROUND);
  const start = from === 0 || places.length === 0 ? 0 : text.indexOf(' ', from) + 1;
  return text.slice(start, start + 2 * AROUND);
}

function show() {
  const found = search.search(input.value).slice(0, SHOWN);
  list.replaceChildren(
    ...found.map(({ page, heading, text, place, terms }) => {
      const link = Object.assign(document.createElement('a'), { href: base + place });
      const title = Object.assign(document.createElement('strong'), { textContent: `${page} › ${heading}` });
      link.append(title, document.createElement('br'), excerpt(text, terms));
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  if (found.length === 0) list.textContent = 'Nothing found';
  list.hidden = input.value.trim() === '';
}

input.addEventListener('input', show);
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') list.querySelector('a')?.click();
});
list.addEventListener('click', () => {
  input.value = '';
  list.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') list.hidden = true;
  if (event.key !== '/' || event.target === input) return;
  event.preventDefault();
  input.focus();
});
// On a narrow screen the list of pages is closed until it is asked for.
if (matchMedia('(max-width: 60rem)').matches) document.querySelector('details.pages').open = false;
