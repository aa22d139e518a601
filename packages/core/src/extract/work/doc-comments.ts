/** A line of a comment, with what is said in it. */
const COMMENT = /^\s*(?:\/\/[/!]?|#(?![!\w])|\/?\*{1,2}(?!\/)|--)\s?(.*?)(?:\*\/)?\s*$/;
const ENDS_COMMENT = /\*\/\s*$/;
/** A text that documents what is declared in the line before it. */
const DOCSTRING = /^\s*[rR]?(?:"""|''')\s*(\S.*?)(?:"""|'''|$)/;
/** Says how to treat the code, not what it does. */
const DIRECTIVE =
  /^(?:nolint|eslint|ts-|@\w|go:|noinspection|TODO|FIXME|NOTE:?\s*$|[-=*]{3,}|type:|pragma)/i;
const LONGEST_CHARS = 140;
const LEAST_WORDS = 3;

/** What comments say of the names that some lines declare: the first sentence of each, without the name. */
export function docsIn(
  lines: readonly string[],
  nameOn: (line: string) => string | undefined,
): ReadonlyMap<string, string> {
  const docs = new Map<string, string>();
  let comment: string[] = [];
  for (const [i, line] of lines.entries()) {
    const said = COMMENT.exec(line)?.[1];
    if (said !== undefined || ENDS_COMMENT.test(line)) {
      comment.push(said ?? '');
      continue;
    }
    const name = nameOn(line);
    if (name !== undefined) {
      const own = comment.length > 0 ? comment : [DOCSTRING.exec(lines[i + 1] ?? '')?.[1] ?? ''];
      const doc = firstSentence(own, name);
      if (doc !== '') docs.set(name, doc);
    }
    comment = [];
  }
  return docs;
}

function firstSentence(comment: readonly string[], name: string): string {
  const text = comment
    .filter((line) => !DIRECTIVE.test(line.trim()))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  const sentence = text.split(/(?<=[.!?:])\s/)[0] ?? '';
  const bare = sentence.startsWith(`${name} `) ? sentence.slice(name.length + 1) : sentence;
  const doc = bare.replace(/[.:]$/, '');
  return doc.length <= LONGEST_CHARS && doc.split(' ').length >= LEAST_WORDS ? doc : '';
}
