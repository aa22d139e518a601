import type { Fact } from './summary.ts';

type Kind = Fact['kind'];

/** One of these stands in every demand: most sentences are done with after this test. */
export const DEMAND_HINT: RegExp =
  /\b(?:never|always|must|only|not|no|(?:do|should|must|ca|need|sha)n['’]t|sure|ensure|prefer|rather|avoid|stop|refrain|most|least|than|under|below|within|up to|max(?:imum)?|min(?:imum)?|budget|deadline|limit|quota|cap|ceiling|timeout|port|use|target|support|stick|stay|pin|keep|leave|may|can now|scrap|drop|forget|instead|forbidden|allowed|prohibited|mandatory|off[- ]limits|without|from now|going forward|ask|confirm|check with|consult|wait for|tell|insist|refuse|hands off|frozen|speak|comment|respond|reply|answer|write|require|run on|runs|shall|should|need|have to|cannot|we(?:'re)? (?:on|are on)|is on)\b/i;

/**
 * What a person's sentence demands of the agent from now on, judged by its mood: orders and prohibitions without a
 * subject, modals, limits, budgets, versions, wishes, permissions. What a person says of themselves or of the world ("I
 * don't remember the id", "it never returns") demands nothing, and neither does a question.
 */
export function demandOf(sentence: string): Kind | undefined {
  if (!DEMAND_HINT.test(sentence) || /\?\W*$/.test(sentence)) return undefined;
  const text = sentence.replace(/\*\*|__/g, '').replaceAll('’', "'");
  if (WISHES.test(text)) return 'preference';
  let demand: Kind | undefined = BINDS.test(text) ? 'constraint' : undefined;
  for (const clause of clausesOf(text)) {
    if (PREFERS.test(clause.text)) return 'preference';
    if (ORDERS.test(clause.text)) demand ??= 'constraint';
    else if (!clause.isJoined && (BARE_ORDERS.test(clause.text) || CHOICES.test(clause.text)))
      demand ??= 'constraint';
  }
  return demand ?? (GIVES.test(text) || RUNS.test(text) ? 'value' : undefined);
}

interface Clause {
  /** The sentence from here on, without the words that only lead to what is said. */
  readonly text: string;
  /** Behind "and" or "but" a verb may have the subject of the clause before. */
  readonly isJoined: boolean;
}

const BREAK = /^\W{0,3}|[,;:—–(]\s+|\s-\s|[,.;]?\s(?:and|but|so|then|or)\s+/g;
const LEAD =
  /^(?:(?:please|just|also|and|but|so|then|ok(?:ay)?|now|remember|again|important|note|reminder|otherwise|instead|actually|oh|hey)[,:!]?\s+)*/i;
const JOINS = /\b(?:and|but|so|then|or)\b/i;

function* clausesOf(text: string): Iterable<Clause> {
  for (const { 0: mark, index } of text.matchAll(BREAK)) {
    const rest = text.slice(index + mark.length);
    const [lead = ''] = LEAD.exec(rest) ?? [];
    yield { text: rest.slice(lead.length), isJoined: index > 0 && JOINS.test(mark + lead) };
  }
}

const anyOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join('|'), 'i');
/** Of a clause: what stands at its beginning. */
const begins = (...patterns: readonly string[]): RegExp =>
  new RegExp(`^(?:${patterns.join('|')})`, 'i');

/** A verb as it stands in an order: not "returns", not "tested". */
const VERB = String.raw`(?!(?:\w*[^\Ws]s|\w{2,}ed|an?|the|been|in|on|at|of|to|as)\b)[a-z\x60"'/]`;
/** Whoever says so for want of memory, knowledge or patience forbids nothing. */
const IDLE = String.raw`(?:have|remember|recall|know|think|believe|understand|see|mind|care|worry|bother|get me wrong|recogni[sz]e|seem|work|feel|even)\b`;
const NUMBER = String.raw`[~≈]?\s?[$€£]?\s?\d`;
const AT_MOST = String.raw`(?:at most|at least|(?:no|not) (?:more|less|fewer|longer|later) than|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|up to|under|below|within|less than|fewer than|more than|over)`;
const DOES = String.raw`(?:keep|limit|use|stay|cap|spend|finish|fit|restrict|cut|hold|make|write|answer|reply|respond|give|show|return|add|allow|change|touch|do|run|be|have|leave|work|implement|fix|solve|deliver|ship|take)`;
const WITHOUT = String.raw`\bwithout (?:touching|changing|adding|using|breaking|modifying|removing|asking|(?:any )?(?:new|extra|additional))\b`;
const AS_IT_IS = String.raw`as (?:is|it is|they are)`;

/** Orders that are known as such behind "and" and "but" too. */
const ORDERS = begins(
  String.raw`(?:never(?: ever)?|always)\s+${VERB}`,
  String.raw`(?:do not|don't)\s+(?!${IDLE})`,
  String.raw`(?:avoid|refrain from|stop)\s+(?:any|all|the|new|\w+ing)\b`,
  // "also" and "too" add to the work at hand: when it is done, nothing is left that binds.
  String.raw`(?:make sure|ensure|be sure|see to it)\b(?!.*\b(?:also|too|as well)\b)`,
  String.raw`only\s+(?:use|touch|change|edit|modify|run|write|read|add|work|do|commit|push|answer|reply|respond|return|output|show|include|ever|in|on|with|from|for)\b`,
  String.raw`(?:(?:however,? )?that )?you (?:should|shall|need to|have to|are (?:not )?(?:allowed|required|expected) to|may not|cannot|can't)\b(?! (?:be able|see|get|know|find|notice|receive|consider|have|check|\w+ me)\b)`,
  String.raw`use\s+(?!(?:it|that|this|them)\b)(?:[\w@/.+-]+[.!]?$|.{1,80}?(?:\binstead of\b|\brather than\b|\bover\b|,? not )|.{1,60}? (?:everywhere|throughout|for (?:all|every|everything|any))\b)`,
  String.raw`(?:ask|check with|confirm with|consult|wait for|tell) (?:me|us|the user|for (?:my|permission|approval|confirmation)|before|first)\b.{0,120}?\b(?:before|first|unless|approv|permission|confirm|every time|whenever)`,
  String.raw`(?:forget|scrap|drop) (?:about|the|that|what|my)\b`,
);

/** Orders of which the verb alone could be a statement's. */
const BARE_ORDERS = begins(
  String.raw`${DOES}\b.{0,160}?(?:\b${AT_MOST} ${NUMBER}|${WITHOUT})`,
  String.raw`${AT_MOST} ${NUMBER}`,
  String.raw`(?:stick (?:to|with)|stay (?:on|with|within|away|out|below|under)|pin)\s`,
  String.raw`keep\s+(?!going|on|at|up|me|in mind|it up|\w+ing\b).{1,120}?(?:unchanged|stable|compatible|intact|short|small|simple|minimal|private|secret|green|passing|the same|${AS_IT_IS}|in sync|out of|away|below|under|within|at|to)\b`,
  String.raw`leave\s.{1,120}?\b(?:alone|untouched|unchanged|${AS_IT_IS})\b`,
);

const RUNTIME = String.raw`(?:[A-Z][\w.+#]*|node|python|java|go|ruby|php|rust|npm|pnpm|bun|deno|react|vue|postgres|mysql|sqlite|es|c\+\+)`;
/** A choice by name: "Use Node 20", "use \`zod\`", but not how to use something to see something. */
const CHOICES = new RegExp(
  `^(?:[Uu]se|[Tt]arget|[Ss]upport|[Rr]un on|[Rr]equire)\\s.{0,80}?(?:\\b${RUNTIME}\\s*v?\\d|[\`"'][^\`"']{1,40}[\`"'](?!.{0,40}\\b(?:to (?:see|show|complete|view|get|list|perform)|for more)\\b))`,
);

/** What binds wherever it stands in a sentence. */
const BINDS = anyOf(
  String.raw`\b(?:I|we)(?:'d| would)? (?:\w+ ){0,2}?(?:want|need|like) to (?:make|be) sure\b`,
  String.raw`^\W{0,3}only\b.{1,120}\b(?:may|can|must|should|is allowed|are allowed)\b`,
  String.raw`\b(?:can|may|must|should|shall) only\b|\bonly (?:be|ever) (?:used|changed|touched|called|run)\b`,
  String.raw`(?<!\b(?:there|I|he|she|they|that|this) )\bmust(?:n't)?\b(?! have \w+)`,
  String.raw`\b(?:should|shall)(?:n't| not| never| always)\b(?! mean\b)`,
  String.raw`\b(?:is|are) (?:strictly )?(?:forbidden|off[- ]limits|not allowed|prohibited|mandatory|frozen)\b|\bhands off\b`,
  String.raw`\b(?:I|we) (?:\w+ ){0,2}?(?:do not|don't|never) (?:\w+ )?(?:want|need|allow|accept|wish)\b`,
  String.raw`\b(?:I|we) only (?:want|need)\b(?! to\b)|\bI (?:insist|refuse)\b`,
  String.raw`\b(?:I|we)(?:(?:'d| would) like| want| need)\b.{1,160}?${WITHOUT}`,
  String.raw`^\W{0,3}(?:from now on|for the rest of|going forward|at all times|under no circumstances|in (?:the )?future,)`,
  String.raw`^\W{0,3}no (?!problem|worries|idea|need|doubt|longer|one|thanks?|matter|wonder|luck|rush|it|I|that|the|this|you|we|not)(?!.*\b(?:is|are|was|were|has|have|had|been|found|match(?:es|ed)?|exists?|detected|shown|needed|yet|here|there|changed?|available|matter|because|provided|given|specified|returned|set)\b)[\w\x60"'/-]+(?: [\w\x60"'/,-]+){0,9}[.!]?$`,
  String.raw`\byou (?:may(?! (?:also )?(?:want|need|find|see|notice|have|be|think|wish|wonder|not)\b)|are (?:now )?allowed|can now|no longer|don't (?:have|need) to|needn't)\b`,
  String.raw`\bit(?:'s| is) (?:now )?(?:ok(?:ay)?|fine|allowed)(?: now)? to\b`,
);

const WISHES = anyOf(
  String.raw`\b(?:I|we)(?:'d| would)?(?: \w+)? prefer\b`,
  String.raw`\bI(?:'d| would) (?:\w+ )?rather\b`,
);
const PREFERS = begins(
  String.raw`prefer\s+\S`,
  String.raw`(?:respond|reply|answer|write|speak|comment) (?:to me )?in (?:plain|simple|short|json|yaml|markdown|\w{3,}(?:ish|an|ese|ch|ic))\b`,
);

const LIMITED = String.raw`(?:budget|deadline|limit|quota|cap|ceiling|maximum|minimum|threshold|timeout|port|due date)`;
const GIVES = anyOf(
  String.raw`(?<![\w/.-])${LIMITED}(?![\w/.-]*[\w/-])[^.!?]{0,40}?(?:\s(?:is|are|of|stays|remains|at|to)|[:=])\s*${NUMBER}`,
  String.raw`\b(?:deadline|due date|budget) is \w`,
);
const RUNS = new RegExp(
  String.raw`\b(?:[Ww]e|[Pp]roject|[Rr]epo|[Rr]epository|[Ss]erver|[Pp]roduction|CI)(?:'re)? (?:uses?|targets?|runs?(?: on)?|are on|is on|on|supports?|requires?)\s.{0,60}?\b${RUNTIME}\s*v?\d`,
);
