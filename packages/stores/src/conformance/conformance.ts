export { artifactSuite, type ArtifactsUnderTest } from './artifact-suite.ts';
export { storeSuite, type StoreUnderTest } from './store-suite.ts';
