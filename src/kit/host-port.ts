export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Splits 10.0.0.1:6443 or [fd00::1]:6443 into host and port. */
export function parseHostPort(text: string): HostPort {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) }
}

/** Joins host and port. An IPv6 address gets brackets. */
export function formatHostPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
