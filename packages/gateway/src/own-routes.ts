import { Hono } from 'hono';
import type { Access } from './http/access.ts';
import type { Observer } from './observe/observer.ts';

export interface OwnRoutesOptions {
  readonly observer: Observer;
  readonly access: Access;
}

/** Paths that the gateway answers itself. */
export function isOwnPath(url: string): boolean {
  return url === '/healthz' || url === '/metrics' || url.startsWith('/bobbin/');
}

/** The gateway's own pages. */
export function ownRoutes({ observer, access }: OwnRoutesOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.use('*', async (c, next) => {
    if (!access.isOwnHost(c.req.header('host')))
      return c.json({ error: { message: 'this name does not lead to the gateway' } }, 421);
    if (!access.hasToken(c.req.header('x-bobbin-token') ?? bearer(c.req.header('authorization'))))
      return c.json({ error: { message: 'send the token in the header x-bobbin-token' } }, 401);
    return next();
  });
  app.get('/metrics', async (c) => {
    const { registry } = observer.metrics;
    return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType });
  });
  return app;
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization?.replace(/^Bearer /, '');
}
