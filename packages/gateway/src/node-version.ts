// The first import of the package: an older Node would fail somewhere inside.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18))
  throw new Error(`bobbin/gateway needs Node 22.18 or later; this is ${process.versions.node}`);
