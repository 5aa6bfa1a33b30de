/** One request, as a registry wants it: with headers, and redirects told instead of followed. */
export interface Web {
  /** What keeps it from being answered is thrown as a HyperkubeError that names the URL. */
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<WebAnswer>
}

export interface WebAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** To be read to its end, or given up with `leave`. */
  readonly body: AsyncIterable<Uint8Array>
  readonly leave: () => Promise<void>
}
