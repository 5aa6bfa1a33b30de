import { BlockList, isIP } from 'node:net'

/**
 * True if a URL is reached without the proxy. The entries have the meaning that Go gives to NO_PROXY, because
 * containerd reads the same list: a domain also matches its subdomains, and networks may be given as CIDR.
 */
export function bypassesProxy(url: string, entries: readonly string[]): boolean {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const target = { host, port: port === '' ? (protocol === 'https:' ? '443' : '80') : port }
  return isLoopback(host) || entries.some((entry) => matchesEntry(target, entry.trim().toLowerCase()))
}

interface Target {
  readonly host: string
  readonly port: string
}

/** Loopback addresses never use a proxy, whatever the list contains. Go has the same rule. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function matchesEntry(target: Target, entry: string): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  if (entry.includes('/')) return isInNetwork(target.host, entry)
  const { host, port } = splitPort(entry)
  if (port !== undefined && port !== target.port) return false
  return isIP(host) === 0 ? isInDomain(target.host, host) : isSameAddress(target.host, host)
}

function isInNetwork(host: string, network: string): boolean {
  const [base = '', prefix = ''] = network.split('/')
  const family = isIP(host)
  if (family === 0 || isIP(base) !== family || !/^\d{1,3}$/.test(prefix)) return false
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(base, Number(prefix), toFamily(family))
  return list.check(host, toFamily(family))
}

function isSameAddress(host: string, address: string): boolean {
  return isInNetwork(host, `${address}/${isIP(address) === 4 ? 32 : 128}`)
}

function isInDomain(host: string, entry: string): boolean {
  if (isIP(host) !== 0) return false
  const domain = entry.replace(/^\*\./, '.')
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`)
}

/** Splits HOST:PORT. An IPv6 address with a port is in brackets. */
function splitPort(entry: string): { readonly host: string; readonly port: string | undefined } {
  const [, inBrackets, name, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(entry) ?? []
  if (port !== undefined) return { host: inBrackets ?? name ?? '', port }
  return { host: entry.replace(/^\[|\]$/g, ''), port: undefined }
}

function toFamily(family: number): 'ipv4' | 'ipv6' {
  return family === 4 ? 'ipv4' : 'ipv6'
}
