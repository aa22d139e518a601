/** A glob as a regular expression over whole paths with `/`: `*`, `**`, `?`, `{a,b}` and `[abc]`. */
export function globPattern(glob: string): RegExp {
  let source = '';
  let depth = 0;
  for (let i = 0; i < glob.length; i++) {
    const char = glob.charAt(i);
    if (glob.startsWith('**/', i)) {
      source += '(?:.*/)?';
      i += 2;
    } else if (glob.startsWith('**', i)) {
      source += '.*';
      i += 1;
    } else if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '{') {
      source += '(?:';
      depth += 1;
    } else if (char === '}' && depth > 0) {
      source += ')';
      depth -= 1;
    } else if (char === ',' && depth > 0) source += '|';
    else if (char === '[' && glob.includes(']', i)) {
      const end = glob.indexOf(']', i);
      source += `[${glob
        .slice(i + 1, end)
        .replace(/^!/, '^')
        .replaceAll('\\', '\\\\')}]`;
      i = end;
    } else source += char.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
  }
  return new RegExp(`^${source}${')'.repeat(depth)}$`, 's');
}
