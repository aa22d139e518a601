import type { EditorTheme, MarkdownTheme, SelectListTheme } from '@earendil-works/pi-tui';

type Style = (text: string) => string;

/** How things look; in a terminal without colour everything is plain text. */
export interface Theme {
  readonly accent: Style;
  readonly dim: Style;
  readonly bold: Style;
  readonly error: Style;
  readonly added: Style;
  readonly removed: Style;
  readonly markdown: MarkdownTheme;
  readonly editor: EditorTheme;
  readonly select: SelectListTheme;
}

const same: Style = (text) => text;

export function themeFor(env: NodeJS.ProcessEnv): Theme {
  const plain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const style =
    (on: number, off: number): Style =>
    (text) =>
      plain ? text : `\u001B[${on}m${text}\u001B[${off}m`;
  const accent = style(36, 39);
  const dim = style(2, 22);
  const bold = style(1, 22);
  const select: SelectListTheme = {
    selectedPrefix: accent,
    selectedText: bold,
    description: dim,
    scrollInfo: dim,
    noMatch: dim,
  };
  return {
    accent,
    dim,
    bold,
    error: style(31, 39),
    added: style(32, 39),
    removed: style(31, 39),
    select,
    editor: { borderColor: dim, selectList: select },
    markdown: {
      heading: bold,
      link: accent,
      linkUrl: dim,
      code: accent,
      codeBlock: same,
      codeBlockBorder: dim,
      quote: dim,
      quoteBorder: dim,
      hr: dim,
      listBullet: accent,
      bold,
      italic: plain ? same : style(3, 23),
      strikethrough: plain ? same : style(9, 29),
      underline: plain ? same : style(4, 24),
    },
  };
}
