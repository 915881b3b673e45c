import { type Answer, words } from 'braid';

/** The commonest small words: enough of them tell languages of one script apart. */
const SMALL: Record<string, string> = {
  English:
    'the of and to in is that it was for on are with as at be this have from or an not but by they you we he she',
  German:
    'der die das und ist nicht ein eine zu den mit sich auf für es dem von im wird auch ich sie wir er so als an wie',
  French:
    'le la les et est une un des pour que dans pas sur du avec il elle nous vous ce cette au aux en ne se plus ou qui',
  Spanish:
    'el la los las y es una un de que en no se por con para del al lo su como más pero este esta son está muy hay',
};

const SCRIPTS: Record<string, RegExp> = {
  Russian: /\p{Script=Cyrillic}/u,
  Greek: /\p{Script=Greek}/u,
  Japanese: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  Chinese: /\p{Script=Han}/u,
  Korean: /\p{Script=Hangul}/u,
  Arabic: /\p{Script=Arabic}/u,
};

export function reward({ record, completion }: Answer<{ language: string }>): Record<string, number> {
  const count = words(completion).length;
  return { language: shareIn(record.language, completion), length: Math.min(1, count / 8) };
}

/** The share of letters in the language's script, or of known small words that are of the language. */
function shareIn(language: string, text: string): number {
  const script = SCRIPTS[language];
  if (script !== undefined) {
    const letters = text.match(/\p{L}/gu) ?? [];
    return letters.length === 0 ? 0 : letters.filter((letter) => script.test(letter)).length / letters.length;
  }
  const own = new Set(SMALL[language]?.split(' '));
  const others = new Set(
    Object.values(SMALL)
      .flatMap((list) => list.split(' '))
      .filter((word) => !own.has(word)),
  );
  const found = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const right = found.filter((word) => own.has(word)).length;
  const known = right + found.filter((word) => others.has(word)).length;
  return known === 0 ? 0 : right / known;
}
