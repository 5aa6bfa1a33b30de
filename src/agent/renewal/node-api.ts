import type { NodePlan } from '../../contract/node-plan.ts'
import { proxyConfigurationFormat } from '../../contract/proxy-configuration.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { KubeClient } from '../../kube/client.ts'
import type { CertificatePair } from '../resources/certificate-problems.ts'
import { findPlanCas, readInstalledPair } from '../resources/installed-key-pair.ts'
import { basename } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'

/** How a node reaches the API. Its local proxy forwards requests to a healthy API server. */
export interface NodeApiEndpoint {
  readonly server: string
  /** CA certificates of the cluster, as PEM. */
  readonly ca: string
}

/** Returns undefined for a host that is not a node. */
export function findNodeApi(plan: NodePlan): NodeApiEndpoint | undefined {
  const proxy = plan.components.find(({ name }) => name === 'apiserver-proxy')
  const config = proxy?.files.find(({ path }) => basename(path) === 'config.json')?.content
  if (config?.kind !== 'text') return undefined
  const { listen } = readVersioned(proxyConfigurationFormat, JSON.parse(config.text))
  const cas = findPlanCas(plan, 'kubernetes').map((one) => one.toString())
  return { server: `https://${listen}`, ca: cas.join('\n') }
}

export function createNodeApiClient(
  { server, ca }: NodeApiEndpoint,
  credentials: CertificatePair,
  signal: AbortSignal,
): KubeClient {
  return new KubeClient({ servers: [server], ca, credentials, signal })
}

/** Creates a client that authenticates as the kubelet. Returns undefined for a host without a kubelet. */
export async function createNodeClient(
  host: Host,
  plan: NodePlan,
  signal: AbortSignal,
): Promise<KubeClient | undefined> {
  const api = findNodeApi(plan)
  const kubelet = plan.components.find(({ name }) => name === 'kubelet')
  const planned = kubelet?.certificates.find(({ usages }) => usages.includes('client'))
  if (api === undefined || planned === undefined) return undefined
  const { certificate = '', privateKey = '' } = await readInstalledPair(host, planned)
  return createNodeApiClient(api, { certificate, privateKey }, signal)
}
