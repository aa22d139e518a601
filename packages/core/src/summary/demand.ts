import type { Fact } from './summary.ts';

/**
 * What a person's sentence demands of the agent from now on, judged by its mood: orders and prohibitions without a
 * subject, modals, limits, budgets, versions, wishes, permissions. What a person says of themselves or of the world ("I
 * don't remember the id", "it never returns") demands nothing, and neither does a question.
 */
export function demandOf(sentence: string): Fact['kind'] | undefined {
  const text = sentence.replace(/\*\*|__/g, '').replaceAll('’', "'");
  if (!DEMAND_HINT.test(text) || /\?\W*$/.test(text)) return undefined;
  if (PREFERS.test(text)) return 'preference';
  if (BINDS.some((pattern) => pattern.test(text))) return 'constraint';
  return GIVES.some((pattern) => pattern.test(text)) ? 'value' : undefined;
}

/** One of these stands in every demand: most sentences are done with after this test. */
export const DEMAND_HINT: RegExp =
  /\b(?:never|always|must|only|not|no|(?:do|should|must|ca|need|sha)n['’]t|sure|ensure|prefer|rather|avoid|stop|refrain|most|least|than|under|below|within|up to|max(?:imum)?|min(?:imum)?|budget|deadline|limit|quota|cap|ceiling|timeout|port|use|target|support|stick|stay|pin|keep|leave|may|can now|scrap|drop|forget|instead|forbidden|allowed|prohibited|mandatory|off[- ]limits|without|from now|going forward|ask|confirm|check with|consult|wait for|tell|insist|refuse|hands off|frozen|speak|comment|respond|reply|answer|write|require|run on|runs|shall|should|need|have to|cannot|we(?:'re)? (?:on|are on)|is on)\b/i;

/** Where an order can begin: at the beginning of a sentence or of a clause, behind words that only lead to it. */
const AT = String.raw`(?:^\W{0,3}|[,;:—–(]\s+|\s-\s|[,.;]?\s(?:and|but|so|then|or)\s+)(?:(?:please|just|also|and|but|so|then|ok(?:ay)?|now|remember|again|important|note|reminder|otherwise|instead|actually|oh|hey)[,:!]?\s+)*`;
const order = (verbs: string): RegExp => new RegExp(AT + verbs, 'i');
/** The same without "and", "but": the verb behind them may have a subject before them. */
const FIRST = AT.replace(String.raw`|[,.;]?\s(?:and|but|so|then|or)\s+`, '');
const first = (verbs: string, flags = 'i'): RegExp => new RegExp(FIRST + verbs, flags);
/** A verb as it stands in an order: not "returns", not "tested". */
const VERB = String.raw`(?!(?:\w*[^\Ws]s|\w{2,}ed|an?|the|been|in|on|at|of|to|as)\b)[a-z\x60"'/]`;

const NUMBER = String.raw`[~≈]?\s?[$€£]?\s?\d`;
const ATMOST = String.raw`(?:at most|at least|(?:no|not) (?:more|less|fewer|longer|later) than|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|up to|under|below|within|less than|fewer than|more than|over)`;
const DOES = String.raw`(?:keep|limit|use|stay|cap|spend|finish|fit|restrict|cut|hold|make|write|answer|reply|respond|give|show|return|add|allow|change|touch|do|run|be|have|leave|work|implement|fix|solve|deliver|ship|take)`;
const LIMITED = String.raw`(?:budget|deadline|limit|quota|cap|ceiling|maximum|minimum|threshold|timeout|port|due date)`;
const RUNTIME = String.raw`(?:[A-Z][\w.+#]*|node|python|java|go|ruby|php|rust|npm|pnpm|bun|deno|react|vue|postgres|mysql|sqlite|es|c\+\+)`;

/** Whoever says so for want of memory, knowledge or patience forbids nothing. */
const IDLE = String.raw`(?:have|remember|recall|know|think|believe|understand|see|mind|care|worry|bother|get me wrong|recognise|recognize|seem|work|feel|even)\b`;

const BINDS: readonly RegExp[] = [
  order(String.raw`(?:never(?: ever)?|always)\s+${VERB}`),
  order(String.raw`(?:do not|don't)\s+(?!${IDLE})`),
  order(String.raw`(?:avoid|refrain from|stop)\s+(?:any|all|the|new|\w+ing)\b`),
  order(String.raw`(?:make sure|ensure|be sure|see to it)\b`),
  /\b(?:I|we)(?:'d| would)? (?:\w+ ){0,2}?(?:want|need|like) to (?:make|be) sure\b/i,
  order(
    String.raw`only\s+(?:use|touch|change|edit|modify|run|write|read|add|work|do|commit|push|answer|reply|respond|return|output|show|include|ever|in|on|with|from|for)\b`,
  ),
  /^\W{0,3}only\b.{1,120}\b(?:may|can|must|should|is allowed|are allowed)\b/i,
  /\b(?:can|may|must|should|shall) only\b|\bonly (?:be|ever) (?:used|changed|touched|called|run)\b/i,
  /^(?!.*\b(?:there|I|he|she|they|that|this) must\b)(?!.*\bmust (?:have|'ve) \w+).*\bmust(?:n't)?\b/i,
  /\b(?:should|shall)(?:n't| not| never| always)\b(?! mean\b)/i,
  order(
    String.raw`(?:(?:note|remember)\b.{0,20}?that )?you (?:should|shall|need to|have to|are (?:not )?(?:allowed|required|expected) to|may not|cannot|can't)\b(?! (?:be able|see|get|know|find|notice|receive|consider|have|check|\w+ me)\b)`,
  ),
  /\b(?:is|are) (?:strictly )?(?:forbidden|off[- ]limits|not allowed|prohibited|mandatory|frozen)\b|\bhands off\b/i,
  /\b(?:I|we) (?:\w+ ){0,2}?(?:do not|don't|never) (?:\w+ )?(?:want|need|allow|accept|wish)\b|\b(?:I|we) only (?:want|need)\b(?! to\b)|\bI (?:insist|refuse)\b/i,
  first(`${DOES}\\b.{0,160}?\\b${ATMOST} ${NUMBER}`),
  new RegExp(`^\\W{0,3}${ATMOST} ${NUMBER}`, 'i'),
  first(String.raw`(?:stick (?:to|with)|stay (?:on|with|within|away|out|below|under)|pin)\s`),
  first(
    `(?:[Uu]se|[Tt]arget|[Ss]upport|[Rr]un on|[Rr]equire)\\s.{0,80}?(?:\\b${RUNTIME}\\s*v?\\d|[\`"'][^\`"']{1,40}[\`"'](?!.{0,40}\\b(?:to (?:see|show|complete|view|get|list|perform)|for more)\\b))`,
    '',
  ),
  order(
    String.raw`use\s+(?!(?:it|that|this|them)\b)(?:[\w@/.+-]+[.!]?$|.{1,80}?(?:\binstead of\b|\brather than\b|\bover\b|,? not )|.{1,60}? (?:everywhere|throughout|for (?:all|every|everything|any))\b)`,
  ),
  first(
    String.raw`keep\s+(?!going|on|at|up|me|in mind|it up|\w+ing\b).{1,120}?(?:unchanged|stable|compatible|intact|short|small|simple|minimal|private|secret|green|passing|the same|as (?:is|it is|they are)|in sync|out of|away|below|under|within|at|to)\b`,
  ),
  first(String.raw`leave\s.{1,120}?\b(?:alone|untouched|unchanged|as (?:is|it is|they are))\b`),
  order(
    String.raw`(?:ask|check with|confirm with|consult|wait for|tell) (?:me|us|the user|for (?:my|permission|approval|confirmation)|before|first)\b.{0,120}?\b(?:before|first|unless|approv|permission|confirm|every time|whenever)`,
  ),
  new RegExp(
    `(?:${FIRST}${DOES}|\\b(?:I|we)(?:'d| would) like|\\b(?:I|we) (?:want|need))\\b.{1,160}?\\bwithout (?:touching|changing|adding|using|breaking|modifying|removing|asking|(?:any )?(?:new|extra|additional))\\b`,
    'i',
  ),
  /^\W{0,3}(?:from now on|for the rest of|going forward|at all times|under no circumstances|in (?:the )?future,)/i,
  /^\W{0,3}no (?!problem|worries|idea|need|doubt|longer|one|thanks?|matter|wonder|luck|rush|it|I|that|the|this|you|we|not)(?!.*\b(?:is|are|was|were|has|have|had|been|found|match(?:es|ed)?|exists?|detected|shown|needed|yet|here|there|changed?|available|matter|because|provided|given|specified|returned|set)\b)[\w`"'/-]+(?: [\w`"'/,-]+){0,9}[.!]?$/i,
  /\byou (?:may(?! (?:also )?(?:want|need|find|see|notice|have|be|think|wish|wonder)\b)|are (?:now )?allowed|can now|no longer|don't (?:have|need) to|needn't)\b|\bit(?:'s| is) (?:now )?(?:ok(?:ay)?|fine|allowed)(?: now)? to\b/i,
  order(String.raw`(?:forget|scrap|drop) (?:about|the|that|what|my)\b`),
];

const PREFERS = new RegExp(
  [
    String.raw`\b(?:I|we)(?:'d| would)?(?: \w+)? prefer\b`,
    String.raw`\bI'd (?:\w+ )?rather\b|\bI would rather\b`,
    `${AT}prefer\\s+\\S`,
    `${AT}(?:respond|reply|answer|write|speak|comment) (?:to me )?in (?:[A-Z]\\w+|plain|simple|short)\\b`,
  ].join('|'),
  'i',
);

const GIVES: readonly RegExp[] = [
  new RegExp(
    `\\b${LIMITED}\\b[^.!?]{0,40}?(?:\\s(?:is|are|of|stays|remains|at|to)|[:=])\\s*${NUMBER}`,
    'i',
  ),
  /\b(?:deadline|due date|budget) is \w/i,
  new RegExp(
    `\\b(?:[Ww]e|[Pp]roject|[Rr]epo|[Rr]epository|[Ss]erver|[Pp]roduction|CI)(?:'re)? (?:uses?|targets?|runs?(?: on)?|are on|is on|on|supports?|requires?)\\s.{0,60}?\\b${RUNTIME}\\s*v?\\d`,
  ),
];
