import type { ProxyConfiguration } from '../contract/proxy-configuration.ts'
import type { PlanContext } from './context.ts'

/** Local port of apiserver-proxy. Programs on the host reach the API through it. */
export const apiserverProxyPort = 6444
export const apiserverProxyHealthPort = 6445

/** Paths of the proxy's files on the host. */
export interface ApiserverProxyFiles {
  readonly caFile: string
  readonly certificate: string
  readonly privateKey: string
  /** File in which the proxy stores the API servers it has discovered. */
  readonly stateFile: string
}

/**
 * Builds the configuration of apiserver-proxy. The planned control planes are its initial servers, through
 * which the proxy discovers later changes.
 */
export function renderApiserverProxyConfig(
  { topology, cluster, address }: PlanContext,
  files: ApiserverProxyFiles,
): string {
  const { port } = cluster.spec.api
  const servers = topology.controlPlanes.map((server) => `${server.address}:${port}`)
  const local = topology.controlPlanes.some((server) => server.address === address)
  const { caFile, certificate, privateKey, stateFile } = files
  const config: ProxyConfiguration = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ApiserverProxyConfiguration',
    listen: `127.0.0.1:${apiserverProxyPort}`,
    health: `127.0.0.1:${apiserverProxyHealthPort}`,
    servers,
    ...(local ? { local: `${address}:${port}` } : {}),
    caFile,
    credentials: { certificate, privateKey },
    stateFile,
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
