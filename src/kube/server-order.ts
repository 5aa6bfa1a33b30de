/** Which server is asked first: the one that answered last. */
export class Rota {
  readonly #servers: readonly string[]
  #first = 0

  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  /** All of them, each once. */
  turns(): readonly string[] {
    return [...this.#servers.slice(this.#first), ...this.#servers.slice(0, this.#first)]
  }

  answered(server: string): void {
    this.#first = Math.max(this.#servers.indexOf(server), 0)
  }
}
