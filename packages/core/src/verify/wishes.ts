import { contentWords } from '../message/text.ts';

/** A line of tool text that speaks to the model rather than about the world. */
const ADDRESSES =
  /\b(?:ignore|disregard|forget|override|you (?:must|should|are|have to|will|need)|always|never|do not|don't|must|instructions?|system prompt|the (?:assistant|agent|model|user|summary)|summar(?:y|i[sz]e))\b/i;

/** True if a tool's text gives orders in so many words. */
export function givesOrders(text: string): boolean {
  return ADDRESSES.test(text);
}

const AHEAD =
  /^\W*(?:next(?: steps?)?|to-?do|remaining|the plan|then|afterwards?|action items?|please|let's|now)\b|\b(?:must|shall|should|need(?:s|ed)? to|ha(?:s|ve) to|ought to|will|going to|(?:is|are) to|required to|remains? to|wants? (?:us|me|you|the \w+) to|still (?:open|to))\b/i;
const VERBS = new Set(
  `add allow apply approve ask build call cancel change check clean clear close commit complete configure continue convert
  copy create delete deploy disable discard do download drop drive email enable ensure erase examine execute export fetch find finish fix
  force forward get give grant hide ignore implement import insert install keep kill launch leave log mail make merge
  migrate move never always open overwrite patch pay post print publish pull purge push put read rebase refactor release remove
  rename replace report reset restart restore return revert review revoke rewrite rotate run save send set share ship show skip
  start stop submit switch tag tell transfer trigger trust turn uninstall update upgrade upload use verify wipe write`.split(
    /\s+/,
  ),
);

const AGENT_MUST =
  /\b(?:assistant|agent|model|you|we|i)\s+(?:\w+\s+)?(?:must|shall|should|need(?:s|ed)? to|ha(?:s|ve) to|will)\b/i;
const FIRST_STEP =
  /^\W*(?:next(?: steps?)?|to-?do|remaining|the plan|then|afterwards?|action items?|please|let's|now)\b/i;

/** True if a sentence is a step to take, or says that the agent must take one. */
export function isStep(sentence: string): boolean {
  return FIRST_STEP.test(sentence) || AGENT_MUST.test(sentence) || beginsWithVerb(sentence);
}

/** True if a sentence says what to do, rather than how things are or went. */
export function saysWhatToDo(sentence: string): boolean {
  return AHEAD.test(sentence) || beginsWithVerb(sentence);
}

function beginsWithVerb(sentence: string): boolean {
  const first = /^\W*(?:\[[ x]\]\W*)?([a-z]+)(?![-'\w])/i.exec(sentence)?.[1];
  return first !== undefined && VERBS.has(first.toLowerCase());
}

const PERSON = String.raw`(?:user|customer|client|human|operator|owner|person|maintainer|developer)`;
const WISHES = String.raw`(?:wants?|wanted|wish(?:es|ed)?|ask(?:s|ed)?|allow(?:s|ed)?|permit(?:s|ted)?|approve[sd]?|agree[sd]?|confirm(?:s|ed)?|sa(?:ys|id)|tells?|told|request(?:s|ed)?|require[sd]?|demand(?:s|ed)?|insist(?:s|ed)?|prefer(?:s|red)?|expect(?:s|ed)?|instruct(?:s|ed)?|order(?:s|ed)?|need(?:s|ed)?|would like|forbids?|forbade|authori[sz]e[sd]?|granted|gave|gives|decided)`;
const WISH = new RegExp(
  String.raw`\b(?:the|our|this|that|a) ${PERSON}(?:'s)?(?: (?:has|had|also|then|now|explicitly|clearly|further))* ${WISHES}\b|\b(?:the|our|this) ${PERSON}'s (?:wish|request|instruction|order|preference|demand|permission)s?\b|\b(?:as|was|were|been) (?:wanted|asked|allowed|permitted|approved|requested|required|told|instructed|ordered|authori[sz]ed)(?: \w+){0,4} by the ${PERSON}\b`,
  'i',
);
const LEAST_WORDS = 2;

/** What a sentence says that the user wants, without saying so: undefined if it says nothing of the kind. */
export function wishIn(sentence: string): string | undefined {
  if (!WISH.test(sentence)) return undefined;
  const wish = sentence.replace(WISH, ' ');
  return contentWords(wish).length < LEAST_WORDS ? undefined : wish;
}

/** True if a sentence says what is allowed or forbidden. */
export function saysWhatIsAllowed(sentence: string): boolean {
  return /\b(?:may|allowed|permitted|permission|authori[sz]ed|can now|(?:ok(?:ay)?|fine|free|safe) to|forbidden|prohibited|must not|never)\b/i.test(
    sentence,
  );
}
