import { Agent as PlainAgent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { getCACertificates } from 'node:tls'
import { bypassesProxy } from './no-proxy.ts'

/** HTTP proxy by scheme of the requested URL. The URLs may contain a user and a password. */
export interface HttpProxy {
  readonly http?: string | undefined
  readonly https?: string | undefined
  /** Targets that are reached without the proxy, in the format of NO_PROXY. */
  readonly no: readonly string[]
}

/** What the client accepts from one server in addition to certificates of public CAs. */
export interface ServerTrust {
  /** Host of the URL, with its port unless it is the default port. */
  readonly host: string
  /** CA certificates as PEM. */
  readonly ca?: string | undefined
  /** True if any certificate is accepted. */
  readonly skipVerify?: boolean | undefined
}

/** How HTTP requests leave this machine. An empty route connects directly and trusts public CAs. */
export interface HttpRoute {
  readonly proxy?: HttpProxy | undefined
  /** CA certificates as PEM that are trusted for every server, for a proxy that inspects TLS. */
  readonly ca?: string | undefined
  readonly servers?: readonly ServerTrust[] | undefined
}

/** Returns the proxy for a URL; undefined if the server is reached directly. */
export function selectProxy({ proxy }: HttpRoute, url: string): string | undefined {
  if (proxy === undefined || bypassesProxy(url, proxy.no)) return undefined
  return url.startsWith('https:') ? proxy.https : proxy.http
}

export interface AgentOptions {
  /** True if connections are used for several requests. */
  readonly keepAlive: boolean
}

/** Creates the agent of node:http or node:https for a URL. Node.js itself implements the proxy protocol. */
export function createRouteAgent(
  route: HttpRoute,
  url: string,
  { keepAlive }: AgentOptions,
): PlainAgent | TlsAgent {
  const proxy = selectProxy(route, url)
  const proxyEnv = proxy === undefined ? {} : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy }
  if (!url.startsWith('https:')) return new PlainAgent({ keepAlive, proxyEnv })
  return new TlsAgent({ keepAlive, proxyEnv, ...buildTrust(route, new URL(url).host) })
}

/** Builds the TLS settings for a server. A private CA of one server is not trusted for another. */
function buildTrust(
  { ca, servers = [] }: HttpRoute,
  host: string,
): { readonly ca?: string[]; readonly rejectUnauthorized?: boolean } {
  const own = servers.filter((server) => server.host === host)
  const added = [ca, ...own.map((server) => server.ca)].filter((pem) => pem !== undefined)
  return {
    ...(added.length === 0 ? {} : { ca: [...getCACertificates('default'), ...added] }),
    ...(own.some(({ skipVerify }) => skipVerify === true) ? { rejectUnauthorized: false } : {}),
  }
}

/** Adds user and password to the URL of a proxy. */
export function addProxyLogin(
  url: string,
  { username, password }: { readonly username: string; readonly password: string },
): string {
  const proxy = new URL(url)
  // The setters of URL leave some characters unencoded that Go refuses.
  const user = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  return `${proxy.protocol}//${user}@${proxy.host}`
}
