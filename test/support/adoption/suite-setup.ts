/**
 * What the `beforeAll` of a suite opens. vitest calls `afterAll` also after a failed `beforeAll`, and must then report
 * only the first error.
 */
export class SuiteSetup {
  readonly #opened = new AsyncDisposableStack()
  #isComplete = false

  /** Closes a resource at the end of the suite. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    return this.#opened.use(resource)
  }

  /** Runs at the end of the suite, before the earlier resources are closed. */
  defer(close: () => void | Promise<void>): void {
    this.#opened.defer(close)
  }

  /** Must be the last call of `beforeAll`. */
  complete(): void {
    this.#isComplete = true
  }

  /** Writes the results of the suite if its set-up is complete. Closes what was opened, the last one first. */
  async end(writeResults: () => Promise<void> = async () => undefined): Promise<void> {
    try {
      if (this.#isComplete) await writeResults()
    } finally {
      await this.#opened.disposeAsync()
    }
  }
}
