import { KIND } from './anchor.ts';
import { VOICE } from './scan.ts';
import type { FileAccess } from './files.ts';
import { FADES, type Placed, type Row, type AnchorStatistics } from './statistics.ts';

/** What is known of an anchor when its need is judged, in the order of a row. Ages are powers of two, in messages. */
export const FEATURES = [
  'path',
  'snake',
  'camel',
  'hash',
  'number',
  'length',
  'count',
  'texts',
  'byUser',
  'byText',
  'byArgs',
  'byTool',
  'bySystem',
  'age',
  'ageUser',
  'ageArgs',
  'ageTool',
  'ageOwn',
  'ageTokens',
  'ageFirst',
  'ageFirstTokens',
  'firstVoice',
  'firstShare',
  'calls',
  'escaped',
  'alone',
  'edits',
  'ageEdit',
  'leastBeside',
  'lastBeside',
  'any3',
  'any12',
  'any48',
  'own3',
  'own12',
  'own48',
  'fileAge',
  'fileEditAge',
  'fileEdits',
  'fileReads',
  'sinceUser',
  'turnsShare',
  'ownShare',
  'upper',
  'depth',
  'heads',
  'lineHeat',
  'lineHeatMean',
  'textHeat',
  'lineOthers',
  'stem',
  'stemOwn',
  'topic',
  'topicBest',
  'topicUser',
] as const;

/** The ages that stand for never, and for no file at all. */
const NEVER = 12;
const NO_FILE = 13;
const log = Math.log2;

/** Gives the row of every anchor, one after the other, in one array that is written over. */
export function eachRow(
  survey: AnchorStatistics,
  visit: (id: number, row: Float64Array) => void,
): void {
  const fading = new Fading(survey);
  const heat = heatOf(survey, fading);
  const topic = topicOf(survey);
  const now = survey.end;
  const ages = Float64Array.from({ length: now + 1 }, (_, at) => log(1 + now - at));
  const age = (at: number): number => (at < 0 ? NEVER : (ages[at] ?? log(1 + now - at)));
  const turns = Math.max(1, survey.turns);
  const sinceUser = age(survey.lastUser);
  const length = Math.max(1, now - survey.begin);
  const x = new Float64Array(FEATURES.length);
  for (let id = 0; id < survey.anchors.length; id++) {
    const { key, kind } = survey.anchors[id] as AnchorStatistics['anchors'][number];
    const row = survey.rows[id] as Row;
    const file = fileOf(survey, row, kind === KIND.path ? key : undefined);
    const [byUser, byText, byArgs, byTool, bySystem] = row.byVoice;
    const texts = byUser + byText + byArgs + byTool + bySystem;
    const own = Math.max(row.lastBy[VOICE.text], row.lastBy[VOICE.args]);
    const pieces = heat.pieces[id] as number;
    let f = 0;
    x[f++] = kind === KIND.path ? 1 : 0;
    x[f++] = kind === KIND.snake ? 1 : 0;
    x[f++] = kind === KIND.camel ? 1 : 0;
    x[f++] = kind === KIND.hash ? 1 : 0;
    x[f++] = kind >= KIND.code ? 1 : 0;
    x[f++] = key.length;
    x[f++] = log(1 + row.count);
    x[f++] = log(1 + texts);
    x[f++] = byUser;
    x[f++] = byText;
    x[f++] = byArgs;
    x[f++] = byTool;
    x[f++] = bySystem;
    x[f++] = age(
      Math.max(own, row.lastBy[VOICE.user], row.lastBy[VOICE.tool], row.lastBy[VOICE.system]),
    );
    x[f++] = age(row.lastBy[VOICE.user]);
    x[f++] = age(row.lastBy[VOICE.args]);
    x[f++] = age(row.lastBy[VOICE.tool]);
    x[f++] = age(own);
    x[f++] = log(1 + (survey.chars - row.lastAt) / 4);
    x[f++] = age(row.first);
    x[f++] = log(1 + (survey.chars - row.firstAt) / 4);
    x[f++] = row.firstVoice;
    x[f++] = (row.first - survey.begin) / length;
    x[f++] = row.calls / row.count;
    x[f++] = row.escaped / row.count;
    x[f++] = row.alone / row.count;
    x[f++] = row.edits;
    x[f++] = age(row.lastEdit);
    x[f++] = row.leastBeside;
    x[f++] = row.lastBeside;
    for (let k = 0; k < 3; k++) x[f++] = (row.any[k] as number) * fading.of(row, k);
    for (let k = 0; k < 3; k++) x[f++] = (row.own[k] as number) * fading.of(row, k);
    x[f++] = file === undefined ? NO_FILE : age(file.touchedAt);
    x[f++] = file === undefined ? NO_FILE : age(file.editedAt);
    x[f++] = file === undefined ? -1 : file.edits;
    x[f++] = file === undefined ? -1 : file.reads;
    x[f++] = sinceUser;
    x[f++] = row.turns / turns;
    x[f++] = (byText + byArgs) / texts;
    x[f++] = isUpper(key.charCodeAt(0)) ? 1 : 0;
    x[f++] = kind === KIND.path ? namesOf(survey.fulls[id] as string) : 0;
    x[f++] = row.heads / texts;
    x[f++] = heat.line[id] as number;
    x[f++] = (heat.mean[id] as number) / pieces;
    x[f++] = heat.text[id] as number;
    x[f++] = (heat.others[id] as number) / pieces;
    x[f++] = heat.stem[id] as number;
    x[f++] = heat.stemOwn[id] as number;
    x[f++] = topic.share[id] as number;
    x[f++] = topic.best[id] as number;
    x[f++] = topic.user[id] as number;
    visit(id, x);
  }
}

function fileOf(
  survey: AnchorStatistics,
  row: Row,
  path: string | undefined,
): FileAccess | undefined {
  return (path === undefined ? undefined : survey.files.endingIn(path)) ?? row.file;
}

/** How many names the slashes of a path part. */
function namesOf(path: string): number {
  let names = 1;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) names++;
  return names;
}

/** What is left at the end of a conversation of what was named in each of its messages, by each of FADES. */
class Fading {
  readonly #left: readonly Float64Array[];

  constructor({ end }: AnchorStatistics) {
    this.#left = FADES.map((fade) =>
      Float64Array.from({ length: end + 1 }, (_, at) => Math.exp((at - end) / fade)),
    );
  }

  of({ fadedAt }: Row, k: number): number {
    return (this.#left[k] as Float64Array)[fadedAt] as number;
  }
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

/** How much of a neighbour's heat counts. */
const HOTTEST = 4;

/** What stands beside an anchor: how much the agent itself named its neighbours of late, on the same lines and texts. */
interface Heat {
  readonly line: Float64Array;
  readonly mean: Float64Array;
  readonly text: Float64Array;
  readonly others: Float64Array;
  readonly pieces: Float64Array;
  /** Other spellings of the same name: `a.b.Name`, `Name`, `nName` behind an escape. */
  readonly stem: Float64Array;
  readonly stemOwn: Float64Array;
}

function heatOf(survey: AnchorStatistics, fading: Fading): Heat {
  const count = survey.anchors.length;
  const zeros = (): Float64Array => new Float64Array(count);
  const own = zeros();
  for (let id = 0; id < count; id++) {
    const row = survey.rows[id] as Row;
    own[id] = Math.min(HOTTEST, row.own[2] * fading.of(row, 2));
  }
  const heat = { line: zeros(), mean: zeros(), text: zeros(), others: zeros(), pieces: zeros() };
  for (const placed of survey.placed) warm(placed, own, heat);
  return { ...heat, ...stemsOf(survey, own) };
}

function warm(
  { segment, ids }: Placed,
  own: Float64Array,
  heat: Omit<Heat, 'stem' | 'stemOwn'>,
): void {
  const { line, mean, text, others, pieces } = heat;
  let total = 0;
  let size = 0;
  for (const piece of segment.pieces) {
    let best = 0;
    let second = 0;
    let bestId = -1;
    const besides = piece.mentions.length - 1;
    for (const at of piece.mentions) {
      const id = ids[at] as number;
      const value = own[id] as number;
      total += value;
      if (value > best) {
        second = best;
        best = value;
        bestId = id;
      } else if (value > second) second = value;
    }
    size += piece.mentions.length;
    for (const at of piece.mentions) {
      const id = ids[at] as number;
      const beside = id === bestId ? second : best;
      if (beside > (line[id] as number)) line[id] = beside;
      mean[id] = (mean[id] as number) + beside;
      others[id] = (others[id] as number) + besides;
      pieces[id] = (pieces[id] as number) + 1;
    }
  }
  const average = size === 0 ? 0 : total / size;
  for (const id of ids) if (average > (text[id] as number)) text[id] = average;
}

function stemsOf(survey: AnchorStatistics, own: Float64Array): Pick<Heat, 'stem' | 'stemOwn'> {
  const count = survey.anchors.length;
  const stems = new Map<string, { n: number; own: number }>();
  const mine = survey.anchors.map(({ key, kind }, id) => {
    const { escaped, count: times } = survey.rows[id] as Row;
    const cut = kind === KIND.path ? key.lastIndexOf('/') : key.lastIndexOf('.');
    const skipped = cut < 0 && escaped === times ? 1 : 0;
    const name = key.slice(cut + 1 + skipped).toLowerCase();
    const stem = stems.get(name) ?? { n: 0, own: 0 };
    stems.set(name, stem);
    stem.n++;
    stem.own += own[id] as number;
    return stem;
  });
  const [stem, stemOwn] = [new Float64Array(count), new Float64Array(count)];
  mine.forEach((group, id) => {
    stem[id] = group.n;
    stemOwn[id] = group.own - (own[id] as number);
  });
  return { stem, stemOwn };
}

const SUBWORD = /[A-Z]?[a-z]{2,}|[A-Z]{3,}/g;
const subwords = (text: string): readonly string[] => text.match(SUBWORD) ?? [];

/** How much the words inside an anchor are the words of what is talked about now. */
interface Topic {
  readonly share: Float64Array;
  readonly best: Float64Array;
  readonly user: Float64Array;
}

/** A word inside anchors, however it is spelled: in how many, how much it tells, whether it is talked about now. */
interface Word {
  anchors: number;
  rarity: number;
  readonly recent: boolean;
  readonly asked: boolean;
}

function topicOf(survey: AnchorStatistics): Topic {
  const count = survey.anchors.length;
  const { recent, asked } = talkedAbout(survey);
  const known = new Map<string, Word>();
  const bySpelling = new Map<string, Word>();
  const own = survey.anchors.map(({ key }) => {
    const words: Word[] = [];
    for (const spelling of subwords(key)) {
      let word = bySpelling.get(spelling);
      if (word === undefined) {
        const lower = spelling.toLowerCase();
        word = known.get(lower) ?? {
          anchors: 0,
          rarity: 0,
          recent: recent.has(lower),
          asked: asked.has(lower),
        };
        known.set(lower, word);
        bySpelling.set(spelling, word);
      }
      if (!words.includes(word)) words.push(word);
    }
    for (const word of words) word.anchors++;
    return words;
  });
  for (const word of known.values()) word.rarity = 1 - Math.log(word.anchors) / Math.log(2 + count);
  const topic = {
    share: new Float64Array(count),
    best: new Float64Array(count),
    user: new Float64Array(count),
  };
  own.forEach((words, id) => {
    let hit = 0;
    let all = 0;
    let most = 0;
    let mostUser = 0;
    for (const word of words) {
      all += word.rarity;
      if (word.recent) {
        hit += word.rarity;
        most = Math.max(most, word.rarity);
      }
      if (word.asked) mostUser = Math.max(mostUser, word.rarity);
    }
    topic.share[id] = all === 0 ? 0 : hit / all;
    topic.best[id] = most;
    topic.user[id] = mostUser;
  });
  return topic;
}

const RECENT_TEXTS = 8;
const RECENT_MESSAGES = 200;
const RECENT_CHARS = 2_000;
const ASKED_CHARS = 4_000;

/** The words of the last request, and of the agent's last texts and calls. */
function talkedAbout(survey: AnchorStatistics): {
  recent: ReadonlySet<string>;
  asked: ReadonlySet<string>;
} {
  const recent = new Set<string>();
  const asked = new Set<string>();
  let texts = 0;
  for (let k = survey.placed.length - 1; k >= 0; k--) {
    const { segment, index } = survey.placed[k] as Placed;
    if (survey.end - index > RECENT_MESSAGES) break;
    if (texts >= RECENT_TEXTS && index < survey.lastUser) break;
    const { voice, text } = segment;
    if (voice === VOICE.user && index === survey.lastUser)
      for (const word of subwords(text.slice(0, ASKED_CHARS))) asked.add(word.toLowerCase());
    if ((voice === VOICE.text || voice === VOICE.args) && texts < RECENT_TEXTS) {
      texts++;
      for (const word of subwords(text.slice(0, RECENT_CHARS))) recent.add(word.toLowerCase());
    }
  }
  return { recent, asked };
}
