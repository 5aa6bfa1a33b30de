/** The parts of an HTTP request that decide whether the interface may respond to it. */
export interface RequestFacts {
  readonly method: string | undefined
  readonly host: string | undefined
  readonly origin: string | undefined
  /** Where the request comes from, according to the browser. Other clients do not send it. */
  readonly fetchSite: string | undefined
}

export interface Refusal {
  readonly status: 401 | 403 | 404 | 405
  readonly message: string
}

/**
 * Refuses requests that this machine's browser sends on behalf of another site. The name in `host` must be a
 * loopback name, because a foreign name that resolves to 127.0.0.1 shows DNS rebinding.
 */
export function findRefusal(
  { method, host, origin, fetchSite }: RequestFacts,
  port: number,
  allowsChanges: boolean,
): Refusal | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (host === undefined || !hosts.includes(host)) {
    return { status: 403, message: `the request must name the host ${hosts.join(' or ')}` }
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    return { status: 403, message: 'requests of other origins are refused' }
  }
  // `none` is a page that the operator opened. `same-site` includes other ports of this machine.
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') {
    return { status: 403, message: 'requests of other sites are refused' }
  }
  if (method === 'GET' || method === 'HEAD') return undefined
  if (method !== 'POST' || !allowsChanges) {
    return { status: 405, message: 'this method is not allowed: to change clusters, use --allow-changes' }
  }
  // Browsers name the origin of every POST, so a POST without origin comes from another program.
  return origin === undefined ? { status: 403, message: 'a change must name its origin' } : undefined
}
