export interface Address {
  readonly host: string
  readonly port: number
}

/** The two parts of 10.0.0.1:6443 or [fd00::1]:6443. */
export function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) }
}

export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
