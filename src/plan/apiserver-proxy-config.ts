import type { Scene } from './context.ts'

/** The local port where a host finds the API, whichever servers are well. */
export const proxyPort = 6444
export const proxyHealthPort = 6445

/** Paths on the host. */
export interface ProxyFiles {
  readonly authority: string
  readonly certificate: string
  readonly privateKey: string
  /** Where it keeps the servers that it has learned of. */
  readonly memory: string
}

/** The servers that it begins with; the others it learns from them. */
export function apiserverProxyConfig({ topology, cluster, address }: Scene, files: ProxyFiles): string {
  const { port } = cluster.spec.api
  const servers = topology.controlPlanes.map((server) => `${server.address}:${port}`)
  const local = topology.controlPlanes.some((server) => server.address === address)
  const { authority, certificate, privateKey, memory } = files
  const config = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ApiserverProxyConfiguration',
    listen: `127.0.0.1:${proxyPort}`,
    health: `127.0.0.1:${proxyHealthPort}`,
    servers,
    ...(local ? { local: `${address}:${port}` } : {}),
    authority,
    credentials: { certificate, privateKey },
    memory,
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
