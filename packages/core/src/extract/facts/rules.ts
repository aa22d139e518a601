import type { Fact } from '../../plan/summary.ts';
import { RULES_IN_OTHER_LANGUAGES } from './languages.ts';

type Kind = Fact['kind'];

/**
 * What a person's sentence demands of the agent from now on, judged by its mood: orders and prohibitions without a
 * subject, modals, limits, budgets, versions, preferences, permissions. What a person says of themselves or of the
 * world ("I don't remember the id", "it never returns") demands nothing. A question demands something only if it has
 * the form of an order.
 */
export function demandOf(sentence: string): Kind | undefined {
  const text = sentence
    .replace(/\*\*|__/g, '')
    .replaceAll('’', "'")
    .replace(/\b(do|should|must|ca|need)nt\b/gi, "$1n't")
    .replace(/,? (?:ok(?:ay)?|please)\?+$/i, '');
  if (ASKS.test(text)) return 'constraint';
  if (/[?？]\W*$/.test(text)) return undefined;
  if (WISHES.test(text)) return 'preference';
  let demand: Kind | undefined = BINDS.test(text) ? 'constraint' : undefined;
  for (const clause of clausesOf(text)) {
    if (PREFERS.test(clause.text)) return 'preference';
    if (ORDERS.test(clause.text) || RULES_IN_OTHER_LANGUAGES.test(clause.text))
      demand ??= 'constraint';
    else if (!clause.isJoined && (BARE_ORDERS.test(clause.text) || CHOICES.test(clause.text)))
      demand ??= 'constraint';
  }
  return demand ?? (GIVES.test(text) || RUNS.test(text) ? 'value' : undefined);
}

interface Clause {
  /** The sentence from here on, without the words that only lead to what is said. */
  readonly text: string;
  /** After "and" or "but" a verb may have the subject of the clause before. */
  readonly isJoined: boolean;
}

const BREAK =
  /^[\s"'“”„«(*_>-]{0,3}|[,;:—–(]\s+|[，；：]|\s-\s|\.\.+\s?|[,.;]?\s(?:and|but|so|then|or)\s+/g;
const LEAD =
  /^(?:(?:please|just|also|and|but|so|then|ok(?:ay)?|now|remember(?! (?:to|that)\b)|again|important|note|reminder|otherwise|instead|actually|oh|hey|yes|yeah|no(?= (?:don't|do not|never|leave|keep|use|stop))|careful|in general|as a rule|let'?s|from now on|going forward|bitte|por favor)[,:!]?\s+)*/i;
const JOINS = /\b(?:and|but|so|then|or)\b/i;

function* clausesOf(text: string): Iterable<Clause> {
  for (const { 0: mark, index } of text.matchAll(BREAK)) {
    const rest = text.slice(index + mark.length);
    const [lead = ''] = LEAD.exec(rest) ?? [];
    yield { text: rest.slice(lead.length), isJoined: index > 0 && JOINS.test(mark + lead) };
  }
}

const anyOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join('|'), 'i');
/** The beginning of a clause. */
const begins = (...patterns: readonly string[]): RegExp =>
  new RegExp(`^(?:${patterns.join('|')})`, 'i');

/** A verb in the form of an order: not "returns", not "tested". */
const VERB = String.raw`(?!(?:\w*[^\Ws]s|\w{2,}ed|an?|the|been|in|on|at|of|to|as)\b)[a-z\x60"'/]`;
/** A person who says so for lack of memory, knowledge or patience forbids nothing. */
const IDLE = String.raw`(?:have|remember|recall|know|think|believe|understand|see|mind|care|worry|bother|get me wrong|recogni[sz]e|seem|work|feel|even)\b`;
const NUMBER = String.raw`[~≈]?\s?[$€£]?\s?\d`;
const AT_MOST = String.raw`(?:at most|at least|(?:no|not) (?:more|less|fewer|longer|later) than|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|up to|under|below|within|less than|fewer than|more than|over)`;
const DOES = String.raw`(?:keep|limit|use|stay|cap|spend|finish|fit|restrict|cut|hold|make|write|answer|reply|respond|give|show|return|add|allow|change|touch|do|run|be|have|leave|work|implement|fix|solve|deliver|ship|take)`;
const WITHOUT = String.raw`\bwithout (?:touching|changing|adding|using|breaking|modifying|removing|asking|(?:any )?(?:new|extra|additional))\b`;
/** What is said of all of a kind, not of the present work. */
const GENERAL = String.raw`(?:all|every|each|any)\s(?!(?:of|the|this|these|those|that|other|in all|I|you|we|right)\b|\d)[^,.;]{2,60}?\s`;
const BE_SO = String.raw`(?:should|shall|has to|have to|needs? to)\s(?!be (?:fine|good|ok(?:ay)?|working|passing|fixed|done|there|able|gone|ready|merged|up|covered|addressed|included|updated|removed|green)\b|work|pass\b|now\b)`;
const LANGUAGE = String.raw`(?:plain |simple |british |american |US |UK )*(?:[A-Z]\w+(?:ish|an|ese|ch|ic))\b`;
const AS_IT_IS = String.raw`as (?:is|it is|they are)`;

/** Orders that are recognised after "and" and "but" too. */
const ORDERS = begins(
  String.raw`(?:never(?: ever)?|always)\s+${VERB}`,
  String.raw`(?:do not|don't)\s+(?!${IDLE})`,
  String.raw`(?:avoid|refrain from|stop)\s+(?:any|all|the|new|\w+ing)\b`,
  String.raw`try (?:not to|to (?:avoid|keep|stay|stick))\b`,
  String.raw`(?:(?:keep|have|bear) in mind|remember (?:to|that))\b`,
  String.raw`treat\s.{1,80}?\bas\b`,
  String.raw`(?:whenever|(?:every|each) time) (?:you|we)\b.{1,80},\s`,
  String.raw`${GENERAL}${BE_SO}`,
  // "also" and "too" add to the present work: when it is done, nothing is left that binds.
  String.raw`(?:make sure|ensure|be sure|see to it)\b(?!.*\b(?:also|too|as well)\b)`,
  String.raw`only\s+(?:stop|ask|use|touch|change|edit|modify|run|write|read|add|work|do|commit|push|answer|reply|respond|return|output|show|include|ever|in|on|with|from|for)\b`,
  String.raw`(?:(?:however,? )?that )?you(?: (?:should|shall|need to|have to|may not|cannot|can't)|(?: are|'re) (?:not )?(?:allowed|required|expected) to)\b(?! (?:be able|see|get|know|find|notice|receive|consider|have|check|\w+ me)\b)`,
  String.raw`use\s+(?!(?:it|that|this|them)\b)(?:[\w@/.+-]+[.!]?$|.{1,80}?(?:\binstead of\b|\brather than\b|\bover\b|,? not )|.{1,60}? (?:everywhere|throughout|for (?:all|every|everything|any|new))\b|(?!(?:the|a|an|my|your|our|these|those|same|both)\b)[\w@/.+-]+ (?:for|in) (?!this\b)\w{3,}s\b|(?:the )?(?:\w+ )?(?:spelling|indentation|quotes|\w+[cC]ase|\w+_case|kebab-case|tabs|spaces)\b)`,
  String.raw`(?:ask|check with|confirm with|consult|wait for|tell) (?:me|us|the user|for (?:my|permission|approval|confirmation)|before|first)\b.{0,120}?\b(?:before|first|unless|approv|permission|confirm|every time|whenever)`,
  String.raw`(?:forget|scrap|drop) (?:about|the|that|what|my)\b`,
);

/** Orders whose verb alone could belong to a statement. */
const BARE_ORDERS = begins(
  String.raw`${DOES}\b.{0,160}?(?:\b${AT_MOST} ${NUMBER}|${WITHOUT})`,
  String.raw`${AT_MOST} ${NUMBER}`,
  String.raw`(?:stick (?:to|with)|stay (?:on|with|within|away|out|below|under)|pin)\s`,
  String.raw`keep\s+(?:each|every)\b`,
  String.raw`keep\s+(?!going|on|at|up|me|in mind|it up|\w+ing\b).{1,120}?(?:concise|consistent|brief|unchanged|stable|compatible|intact|short|small|simple|minimal|private|local|secret|green|passing|the same|${AS_IT_IS}|in sync|around|out of|away|below|under|within|at|to)\b`,
  String.raw`(?:run|do|make|write|add|commit|test|check|lint|format|update|report|show|ask|push|bump|verify|tell|review|create|stop|wait)\b.{0,100}? (?:before|after|with) (?:every|each|any) (?:\w+ )?(?:commit|push|merge|release|change|edit|PR|pull request|step|task|phase|batch|fix|deploy\w*|migration)\b`,
  String.raw`leave\s.{1,120}?\b(?:alone|untouched|unchanged|${AS_IT_IS})\b`,
);

const RUNTIME = String.raw`(?:[A-Z][\w.+#]*|node|python|java|go|ruby|php|rust|npm|pnpm|bun|deno|react|vue|postgres|mysql|sqlite|es|c\+\+)`;
/** A choice by name: "Use Node 20", "use \`zod\`", but not how to use something to see something. */
const CHOICES = new RegExp(
  `^(?:[Uu]se|[Tt]arget|[Ss]upport|[Rr]un on|[Rr]equire)\\s.{0,80}?(?:\\b${RUNTIME}\\s*v?\\d|[\`"'][^\`"']{1,40}[\`"'](?!.{0,40}\\b(?:to (?:see|show|complete|view|get|list|perform)|for more)\\b))`,
);

/** What binds at any place in a sentence. */
const BINDS = anyOf(
  String.raw`\b(?:I|we)(?:'d| would)? (?:\w+ ){0,2}?(?:want|need|like) to (?:make|be) sure\b(?! (?:that )?I\b)`,
  String.raw`\blet'?s not\b`,
  String.raw`\b(?:I|we)(?:(?:'d| would) like| want| need) .{1,60}?(?: to not| not to)\b`,
  String.raw`^(?!.*\bI (?:think|guess|believe|might|assume)\b)(?:.*(?:[,;:(]|\b(?:and|but|because|since)) )?we (?:only|never|always)\s+(?!(?:had|got|did|saw|have|see|get|know|want|need|was|were|seem|ever|even|made|found|used to|ran|wrote)\b)${VERB}`,
  String.raw`\bwe (?!\w+ed\b)(?:[\w'/-]+ ){1,8}only[.!]*$`,
  String.raw`\b(?:I|we)(?:(?:'d| would) like| want| need) (?:${GENERAL}(?:in|as|with|without|under|written|named|to (?:be|use|have|follow|go|stay))\b|everything (?:in|to be|to use)\b|(?:no|nothing)\b)`,
  String.raw`\b(?:it would|it'd|would|I'd) (?:be|help|appreciate|love)\b.{0,40}? if you (?:could |can |would )?(?:please )?(?:avoid|not|never|always|only|keep|stick|refrain|didn't|don't)\b`,
  String.raw`^\W{0,3}without (?:asking|telling|checking|my|an? (?:ok|okay|approval|review))\b`,
  String.raw`(?<!\bif )\b(?:nothing|nobody|no one)\b.{1,80}?\b(?:unless|until|before|without)\b|\b(?:nothing|nobody|no one) (?:\w+ ){0,4}?(?:may|must|should|shall)\b`,
  String.raw`\b(?:has|have|needs?|should) (?:to )?(?:stay|remain)\b`,
  String.raw`^(?!(?:no|yes|it's|it|this|that|why|still|but|if|or|maybe|probably|ok|okay|definitely|sorry)\b)[\w./@+-]+(?: [\w./@+-]+){0,2}, not (?!(?:yet|sure|now|really|so|too|that|a|the|just|only|working|in|on)\b)[\w./@+-]+(?: [\w./@+-]+)?[.!]*$`,
  String.raw`^\W{0,3}only\b.{1,120}\b(?:may|can|must|should|is allowed|are allowed)\b`,
  String.raw`\b(?:can|may|must|should|shall) only\b|\bonly (?:be|ever) (?:used|changed|touched|called|run)\b`,
  String.raw`(?<!\b(?:there|I|he|she|they|that|this) )\bmust(?:n't)?\b(?! have \w+)`,
  String.raw`\b(?:should|shall)(?:n't| not| never| always)\b(?! mean\b)`,
  String.raw`(?<!\b(?:if|when|whether) .{0,40})\b(?:is|are) (?:strictly )?(?:forbidden|off[- ]limits|not allowed|prohibited|mandatory|frozen|read[- ]only)\b|\bhands off\b`,
  String.raw`\b(?:I|we) (?:\w+ ){0,2}?(?:do not|don't|never) (?:\w+ )?(?:want|need|allow|accept|wish)\b`,
  String.raw`\b(?:I|we)(?:'d| would)? only (?:want|need|accept)\b(?! to\b)|\bI (?:insist|refuse)\b`,
  String.raw`\b(?:I|we)(?:(?:'d| would) like| want| need)\b.{1,160}?${WITHOUT}`,
  String.raw`^(?!.*\bI(?:'ll| will)\b).*\b(?:from now on|going forward)\b|^\W{0,3}(?:for the rest of|at all times|under no circumstances|in (?:the )?future,)`,
  String.raw`^\W{0,3}no (?!problem|worries|idea|need|doubt|longer|one|thanks?|matter|wonder|luck|rush|it|I|that|the|this|you|we|not)(?!.*\b(?:is|are|was|were|has|have|had|been|found|match(?:es|ed)?|exists?|detected|shown|needed|yet|here|there|changed?|available|matter|because|provided|given|specified|returned|set)\b)[\w\x60"'/-]+(?: [\w\x60"'/,-]+){0,9}[.!]?$`,
  String.raw`\byou (?:may(?! (?:also )?(?:want|need|find|see|notice|have|be|think|wish|wonder|not)\b)|are (?:now )?allowed|can now|no longer|don't (?:have|need) to|needn't)\b`,
  String.raw`\bit(?:'s| is) (?:now )?(?:ok(?:ay)?|fine|allowed)(?: now)? to\b`,
);

/** Orders in the form of a question. */
const ASKS =
  /\b(?:can|could) we (?:please )?make it so (?:that )?we (?:keep|leave|never|always|only|don't|do not)\b|\b(?:can|could|would|will) you (?:please )?(?:not (?!(?:just|simply|also|see|find|reproduce|get|access|run|do (?:it|this|that)|tell|even|reach|read|have|be)\b)|never |always |avoid |stop |refrain )|\bwould you mind not \w+ing\b/i;

const WISHES = anyOf(
  String.raw`\b(?:I|we)(?:'d| would)?(?: \w+)? prefer\b`,
  String.raw`\bI(?:'d| would) (?:\w+ )?rather\b`,
);
const PREFERS = begins(
  String.raw`prefer\s+\S`,
  String.raw`(?:respond|reply|answer|write|speak|comment) (?:to me )?in (?:plain|simple|short|json|yaml|markdown|\w{3,}(?:ish|an|ese|ch|ic))\b`,
  String.raw`(?:\w+ )?(?:comments?|messages?|docs|documentation|names|identifiers|answers|replies|everything|labels|strings) (?:only )?in ${LANGUAGE}`,
  String.raw`(?:british|american|US|UK) (?:english|spelling)\b`,
);

const LIMITED = String.raw`(?:budget|deadline|limit|quota|cap|ceiling|maximum|minimum|threshold|timeout|port|due date)`;
const GIVES = anyOf(
  String.raw`(?<![\w/.-])${LIMITED}(?![\w/.-]*[\w/-])[^.!?]{0,40}?(?:\s(?:is|are|of|stays|remains|at|to)|[:=])\s*${NUMBER}`,
  String.raw`\b(?:deadline|due date|budget) is \w`,
);
const RUNS = new RegExp(
  String.raw`\b(?:[Ww]e|[Pp]roject|[Rr]epo|[Rr]epository|[Ss]erver|[Pp]roduction|CI)(?:'re)? (?:uses?|targets?|runs?(?: on)?|are on|is on|on|supports?|requires?)\s.{0,60}?\b${RUNTIME}\s*v?\d`,
);
