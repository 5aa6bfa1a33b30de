import { isIP, SocketAddress } from 'node:net'

/** Subject of a certificate. Kubernetes uses the common name as user name and the organizations as groups. */
export interface CertificateSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Subject alternative names of a certificate. */
export interface AlternativeNames {
  readonly dns: readonly string[]
  readonly ip: readonly string[]
}

/**
 * Converts names and addresses to their canonical spelling and removes duplicates. For example, fd00:0::1 and
 * FD00::1 are the same address.
 */
export function canonicalNames({ dns, ip }: AlternativeNames): AlternativeNames {
  return {
    dns: [...new Set(dns.map((name) => name.toLowerCase()))],
    ip: [...new Set(ip.map(canonicalAddress))],
  }
}

export function canonicalAddress(text: string): string {
  return isIP(text) === 6 ? new SocketAddress({ address: text, family: 'ipv6' }).address : text
}

/** Formats an IP address from its 4 or 16 bytes. */
export function formatIpBytes(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const hex = Buffer.from(bytes).toString('hex')
  return canonicalAddress((hex.match(/.{4}/g) ?? []).join(':'))
}
