/** What each bundled task asks for and rewards, in a sentence, for whoever chooses one to copy. */
export const templateWords: Readonly<Record<string, string>> = {
  conversation: 'Whole conversations from chat files; the last answer is the target.',
  'correct-and-short':
    'The right number, and of the right completions of a prompt the shorter ones: a reward that compares.',
  countdown: 'Make a number from given numbers; the expression is computed.',
  'exact-match': 'Question and answer; right if the words are the same. The plainest start.',
  'follow-the-cue': 'A conversation of three turns with an environment; the bundled model learns it.',
  'format-and-correctness': 'Thoughts and an answer between tags, and the right number.',
  'javascript-tests': 'Write a function; unit tests run it in the sandbox.',
  'json-schema': 'A JSON object that fits a schema and has the expected values.',
  'keep-to-one-language': 'Answer in the language that is asked for.',
  'last-number': 'A word problem; the last number of the answer counts, as in GSM8K.',
  'length-limit': 'Say the same within a number of words.',
  openenv: 'Turns with an OpenEnv server: one in Python to start with, or one that runs already.',
  'python-command': 'A reward that your own Python program computes; asks before it runs.',
  'python-functions': 'Reward functions in Python as TRL, verl, OpenRLHF or ms-swift call them; asks before it runs.',
  'reasoning-gym': 'Sums to start with; the Python package reasoning-gym makes and scores 106 families of tasks.',
  'rubric-judge': 'A chat model grades by a rubric; asks before anything is sent to it.',
  'second-text': 'Write the second of two texts; the bundled model learns it in a minute.',
  'shop-tools': 'Look prices up and compute with two tools; calls and results are part of the conversation.',
  'two-tools': 'Look a price up, add two numbers or just answer; small enough for the bundled model.',
  verifiers: 'An environment of the Python package verifiers gives records and rewards; one in a file to start with.',
};
