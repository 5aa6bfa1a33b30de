import { isIP, SocketAddress } from 'node:net'

/** Who a certificate is for: to Kubernetes, the user and its groups. */
export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** What a server may be called. */
export interface AlternativeNames {
  readonly dns: readonly string[]
  readonly ip: readonly string[]
}

/** One spelling for each name: fd00:0::1 and FD00::1 are the same. */
export function sameSpelling({ dns, ip }: AlternativeNames): AlternativeNames {
  return {
    dns: [...new Set(dns.map((name) => name.toLowerCase()))],
    ip: [...new Set(ip.map(canonicalAddress))],
  }
}

export function canonicalAddress(text: string): string {
  return isIP(text) === 6 ? new SocketAddress({ address: text, family: 'ipv6' }).address : text
}

/** The address that 4 or 16 bytes stand for. */
export function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const hex = Buffer.from(bytes).toString('hex')
  return canonicalAddress((hex.match(/.{4}/g) ?? []).join(':'))
}
