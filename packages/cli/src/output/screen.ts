import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** The target of a picture: how wide it may be, and how text is coloured there, if it is. */
export interface Screen {
  readonly width: number;
  paint(style: Style, text: string): string;
}

const WIDEST = 100;
const NARROWEST = 36;
const USUAL = 80;

/** Colours only on a terminal, and not if NO_COLOR asks for none. */
export function stdoutScreen(): Screen {
  const { stdout } = process;
  return {
    width: Math.max(NARROWEST, Math.min(WIDEST, stdout.columns ?? USUAL)),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}
