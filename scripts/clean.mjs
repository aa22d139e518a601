// Removes what was built, so that a file which is gone from the source is not published.
import { readdirSync, rmSync } from 'node:fs';

for (const name of readdirSync('packages')) {
  rmSync(`packages/${name}/dist`, { recursive: true, force: true });
}
