/** Sends single requests to a registry. Redirects are returned and not followed. */
export interface RegistryTransport {
  /** Sends a GET request. If no response arrives, throws a HyperkubeError that names the URL. */
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<RegistryResponse>
}

export interface RegistryResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** Body of the response. The caller must read it to the end or call `cancel`. */
  readonly body: AsyncIterable<Uint8Array>
  readonly cancel: () => Promise<void>
}
