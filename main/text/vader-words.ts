/** The word lists of VADER's rules (Hutto and Gilbert 2014), as nltk 3.10 has them. */

/** What an intensifier adds to the word after it, and a dampener subtracts. */
export const BOOST = 0.293;

const BOOSTERS =
  'absolutely amazingly awfully completely considerably decidedly deeply effing enormously entirely especially exceptionally extremely fabulously flipping flippin fricking frickin frigging friggin fully fucking greatly hella highly hugely incredibly intensely majorly more most particularly purely quite really remarkably so substantially thoroughly totally tremendously uber unbelievably unusually utterly very';
const DAMPENERS =
  'almost barely hardly kinda kindof kind-of less little marginally occasionally partly scarcely slightly somewhat sorta sortof sort-of';
const DAMPENING_PAIRS = ['just enough', 'kind of', 'sort of'];

/** By lower-case word or pair of words. */
export const degrees: ReadonlyMap<string, number> = new Map([
  ...BOOSTERS.split(' ').map((word) => [word, BOOST] as const),
  ...[...DAMPENERS.split(' '), ...DAMPENING_PAIRS].map((word) => [word, -BOOST] as const),
]);

export const negations: ReadonlySet<string> = new Set(
  "aint arent cannot cant couldnt darent didnt doesnt dont hadnt hasnt havent isnt mightnt mustnt neednt oughtnt shant shouldnt wasnt werent wont wouldnt ain't aren't can't couldn't daren't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't oughtn't shan't shouldn't wasn't weren't won't wouldn't neither never none nope nor not nothing nowhere uhuh uh-uh without rarely seldom despite".split(
    ' ',
  ),
);

/** Idioms whose meaning differs from their words. */
export const idioms: ReadonlyMap<string, number> = new Map([
  ['the shit', 3],
  ['the bomb', 3],
  ['bad ass', 1.5],
  ['yeah right', -2],
  ['cut the mustard', 2],
  ['kiss of death', -1.5],
  ['hand to mouth', -2],
]);

/** Punctuation before or after a word that isn't part of it. */
export const wordMarks: readonly string[] = '. ! ? , ; : - \' " !! !!! ?? ??? ?!? !?! ?!?! !?!?'.split(' ');
