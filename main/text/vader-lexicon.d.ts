/** The package ships no types; Braid uses its lexicon only. */
declare module 'vader-sentiment/src/vader_lexicon.js' {
  /** Mean valence, −4 to 4, by word or emoticon in lower case. */
  export const lexicon: Readonly<Record<string, number>>;
}
