/** A number of tokens, short: 950, 12.4k, 1.2M. */
export function tokensText(tokens: number): string {
  if (Math.abs(tokens) < 1_000) return String(Math.round(tokens));
  if (Math.abs(tokens) < 999_950) return `${trimmed(tokens / 1_000)}k`;
  return `${trimmed(tokens / 1_000_000)}M`;
}

function trimmed(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, '');
}

export function percentText(share: number): string {
  return `${Math.round(share * 100)}%`;
}
