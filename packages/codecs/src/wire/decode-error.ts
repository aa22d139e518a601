/** Data from outside that is not what its format says. Codecs throw it while they decode; decoded data is trusted. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** Where it is, such as `messages[3].tool_calls[0].function`. */
  readonly path: string;
  /** What is wrong there, such as `must be an object, is a string`. */
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}
