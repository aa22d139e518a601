// Loaded before a check that runs beside the tests: it works while they wait, and so delays them little.
import { setPriority } from 'node:os';

setPriority(5);
