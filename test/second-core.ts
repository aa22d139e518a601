// Loaded before a test file: `@bobbin/testing` gets a copy of core of its own, as if two versions were installed.
import { registerHooks } from 'node:module';

const COPY = '?copy';

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const from = context.parentURL ?? '';
    const isCopied = from.includes('/packages/testing/src/') || from.endsWith(COPY);
    return isCopied && /\/packages\/core\/src\/.+\.ts$/.test(resolved.url)
      ? { ...resolved, url: resolved.url + COPY }
      : resolved;
  },
});
