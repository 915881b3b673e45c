/**
 * The sentences for the made-up replies: subjects, and posts and replies by mood, each with a placeholder for its
 * subject. All written for Braid.
 */

/** Things that people post about, each with one of its parts. */
export const SUBJECTS: readonly (readonly [thing: string, part: string])[] = `
sourdough bread|crust;tomato plants|leaves;bike|chain;morning run|hill;old piano|keys;kitchen shelf|brackets
guitar|strings;chess club|openings;garden pond|frogs;night train|sleeper;camera|lens;knitting|sleeves
allotment|beans;coffee grinder|burrs;watercolour|paper;village choir|altos;small boat|engine;beehive|queen
telescope|mirror;book club|ending;language course|verbs;tent|poles;soup recipe|stock;kite|tail
laptop|battery;puppy|lead;swimming lesson|breathing;model railway|points;record player|needle;greenhouse|vents
apple tree|pruning;dance class|turns;first marathon|training;printer|paper tray;home office|chair;map collection|atlas
pottery wheel|clay;radio play|script;balcony herbs|basil;winter coat|zip;team project|deadline;library card|shelves
cat|window seat;bus route|timetable;rain barrel|pump;street market|cheese;climbing wall|grips;violin|bow
`
  .trim()
  .split(/[;\n]/)
  .map((pair) => {
    const [thing = '', part = ''] = pair.split('|');
    return [thing, part];
  });

/** Posts of one mood and matching replies. */
export interface Mood {
  readonly name: string;
  readonly posts: readonly string[];
  readonly replies: readonly string[];
}

export const MOODS: readonly Mood[] = [
  {
    name: 'joy',
    posts: [
      'Finally got the {thing} right today. The {part} made all the difference.',
      'After weeks of trying, my {thing} works. So happy!',
      'Small win: the {thing} and I are friends at last.',
      'Best day yet with the {thing}. I could talk about the {part} for hours.',
      'The {thing} turned out better than I had hoped.',
    ],
    replies: [
      'That is wonderful news! How long did the {thing} take you?',
      'Well done! Your {thing} must look great, show us the {part} soon.',
      'I love this. What did you change about the {part}?',
      'So happy for you, a good {thing} is worth the wait.',
      'Lovely! Is the {part} as hard as people say?',
      'Great work. You give me hope for my own {thing}.',
    ],
  },
  {
    name: 'trouble',
    posts: [
      'The {thing} broke again. I think the {part} is the problem.',
      'Third try with the {thing} and it still goes wrong.',
      'Nobody told me that a {thing} could be so much trouble.',
      'I am about to give up on the {thing}. The {part} beat me.',
      'Lost a whole Sunday to the {thing} and the {part}.',
    ],
    replies: [
      'Sorry to hear that. Have you checked the {part} first?',
      'Oh no, not the {thing} again! What happened this time?',
      'I had the same trouble. A new {part} fixed it for me.',
      'Give it a rest today, the {thing} will be kinder tomorrow.',
      'That sounds hard. Could you ask someone to look at the {part}?',
      'Bad luck! My {thing} did that for a year before I found out why.',
    ],
  },
  {
    name: 'question',
    posts: [
      'Is it worth buying a better {part} for my {thing}?',
      'How do you all look after a {thing} in winter?',
      'What is the first thing to learn about a {thing}?',
      'Does anyone know why the {part} matters so much for a {thing}?',
      'Thinking about a {thing}. Good idea or bad idea?',
    ],
    replies: [
      'Good idea! Start small and see if you enjoy the {thing}.',
      'Yes, the {part} is the best place to spend your money.',
      'It depends. How often do you use the {thing}?',
      'Learn the {part} first, the rest of the {thing} is easy.',
      'I asked the same last year. You will not regret a {thing}.',
      'Keep it dry and be patient, a {thing} likes that. Where do you live?',
    ],
  },
  {
    name: 'opinion',
    posts: [
      'A {thing} teaches patience like nothing else.',
      'People worry too much about the {part}. Just enjoy the {thing}.',
      'Unpopular view: the {part} is the best part of any {thing}.',
      'Everybody should try a {thing} once.',
      'The older I get, the more I like my {thing}.',
    ],
    replies: [
      'True, though the {part} taught me to be angry first.',
      'I agree. What made you start with the {thing}?',
      'Not sure about that, my {thing} says otherwise.',
      'This is so right. The {part} alone is worth it!',
      'You have clearly never met my {thing}. Kind words though!',
      'Fair point. Would you say the same without the {part}?',
    ],
  },
];

/** A sentence about a subject. */
export function fill(text: string, thing: string, part: string): string {
  return text
    .replaceAll('{thing}', thing)
    .replaceAll('{part}', part)
    .replace(/\ba ([aeio])/g, 'an $1');
}
