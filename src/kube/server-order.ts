/** Order in which servers are tried. The server that responded last comes first. */
export class ServerOrder {
  readonly #servers: readonly string[]
  #first = 0

  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  /** Lists all servers in the order to try them. */
  list(): readonly string[] {
    return [...this.#servers.slice(this.#first), ...this.#servers.slice(0, this.#first)]
  }

  prefer(server: string): void {
    this.#first = Math.max(this.#servers.indexOf(server), 0)
  }
}
