/**
 * DisposableStack for Node 22, limited to the methods that hyperkube uses. Releases contain Node 24, which
 * has DisposableStack built in.
 */
export class DisposableStack implements Disposable {
  readonly #work: (() => void)[] = []

  use<T extends Disposable>(value: T): T {
    this.#work.push(() => value[Symbol.dispose]())
    return value
  }

  adopt<T>(value: T, dispose: (value: T) => void): T {
    this.#work.push(() => dispose(value))
    return value
  }

  defer(dispose: () => void): void {
    this.#work.push(dispose)
  }

  dispose(): void {
    for (let work = this.#work.pop(); work !== undefined; work = this.#work.pop()) work()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }
}
