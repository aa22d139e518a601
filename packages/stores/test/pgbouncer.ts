import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort, SERVER_USER } from './postgres-server.ts';

export interface Pgbouncer {
  readonly path: string;
  readonly version: string;
}

/** Those that BOBBIN_PGBOUNCER names, or the one that is installed (Debian: `pgbouncer`). */
export function pgbouncers(): readonly Pgbouncer[] {
  const named = process.env['BOBBIN_PGBOUNCER']?.split(delimiter);
  const paths = named ?? [
    '/usr/sbin/pgbouncer',
    '/usr/bin/pgbouncer',
    '/opt/homebrew/bin/pgbouncer',
  ];
  return paths
    .filter((path) => existsSync(path))
    .map((path) => {
      const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
      return { path, version: /\d+\.\d+(\.\d+)?/.exec(stdout)?.[0] ?? 'unknown' };
    });
}

/** Starts one in transaction mode, with few connections for many clients. */
export async function startPgbouncer(
  { path }: Pgbouncer,
  server: string,
  settings: readonly string[] = [],
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port: serverPort, pathname } = new URL(server);
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-pgbouncer-'));
  const port = await freePort();
  const users = join(folder, 'users.txt');
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'default_pool_size = 5',
      'max_client_conn = 300',
      'server_login_retry = 1',
      ...settings,
    ].join('\n'),
  );
  if (SERVER_USER.uid !== undefined)
    for (const name of ['', 'users.txt', 'pgbouncer.ini'])
      chownSync(join(folder, name), SERVER_USER.uid, SERVER_USER.gid);
  const process = spawn(path, [join(folder, 'pgbouncer.ini')], {
    ...SERVER_USER,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    process.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('process up')) resolve();
    });
    process.once('exit', () => reject(new Error(`pgbouncer did not start: ${log}`)));
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}${pathname}`,
    async stop() {
      const ended = new Promise((resolve) => process.once('exit', resolve));
      process.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
