/** Sends single requests to a registry, with headers. Redirects are returned, not followed. */
export interface RegistryTransport {
  /** If no response arrives, throws a HyperkubeError that names the URL. */
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<RegistryResponse>
}

export interface RegistryResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** Must be read to its end or released with `cancel`. */
  readonly body: AsyncIterable<Uint8Array>
  readonly cancel: () => Promise<void>
}
