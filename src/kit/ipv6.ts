import { isIP } from 'node:net'

/** Parses an IPv6 address into its eight groups of 16 bits. Returns undefined if the text is no address. */
export function parseIpv6(text: string): readonly number[] | undefined {
  if (isIP(text) !== 6 || text.includes('%')) return undefined
  const [head = '', tail] = normalize(text).split('::')
  const [first, last] = [parseGroups(head), parseGroups(tail ?? '')]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/** Formats eight groups as RFC 5952 prescribes, as the kernel and Kubernetes do. */
export function formatIpv6(groups: readonly number[]): string {
  return normalize(groups.map((group) => group.toString(16)).join(':'))
}

/** A URL has the same notation of IPv6 addresses as RFC 5952. */
function normalize(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
