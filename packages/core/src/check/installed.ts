/** An optional package is needed, and the host has not installed it. */
export class NotInstalled extends Error {
  override readonly name = 'NotInstalled';
}

/**
 * For an import of optional packages that fails: says in one line what to install.
 *
 * @throws NotInstalled if a package is missing, the error itself if it is another one.
 */
export function orInstall(
  purpose: string,
  ...packages: readonly string[]
): (error: unknown) => never {
  return (error) => {
    const { code } = (error ?? {}) as { readonly code?: unknown };
    if (code !== 'ERR_MODULE_NOT_FOUND' || !packages.some((name) => String(error).includes(name)))
      throw error;
    const needed = packages.length === 1 ? 'the package' : 'the packages';
    throw new NotInstalled(
      `${purpose} needs ${needed} ${packages.join(' and ')}: npm install ${packages.join(' ')}`,
    );
  };
}
