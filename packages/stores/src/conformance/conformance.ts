export { artifactSuite, type ArtifactsUnderTest } from './artifact-suite.ts';
export { storeSuite, type StoreSuiteOptions, type StoreUnderTest } from './store-suite.ts';
