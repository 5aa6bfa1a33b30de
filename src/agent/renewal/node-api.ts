import type { NodePlan } from '../../contract/node-plan.ts'
import { proxyConfigurationFormat } from '../../contract/proxy-configuration.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { KubeClient } from '../../kube/client.ts'
import { authoritiesOf } from '../apply/plan-cas.ts'
import type { CertificatePair } from '../apply/certificate-problems.ts'
import { readPair } from '../apply/installed-key-pair.ts'
import type { Host } from '../host/host.ts'
import { basename } from '../host/host-path.ts'

/** Where a node finds the API: by the way of its own components, whichever API server is well. */
export interface NodeApi {
  readonly server: string
  /** PEM. */
  readonly authority: string
}

/** Undefined for a host that is no node. */
export function nodeApi(plan: NodePlan): NodeApi | undefined {
  const proxy = plan.components.find(({ name }) => name === 'apiserver-proxy')
  const config = proxy?.files.find(({ path }) => basename(path) === 'config.json')?.content
  if (config?.kind !== 'text') return undefined
  const { listen } = readVersioned(proxyConfigurationFormat, JSON.parse(config.text))
  const authorities = authoritiesOf(plan, 'kubernetes').map((one) => one.toString())
  return { server: `https://${listen}`, authority: authorities.join('\n') }
}

export function clientAt(
  { server, authority }: NodeApi,
  credentials: CertificatePair,
  signal: AbortSignal,
): KubeClient {
  return new KubeClient({ servers: [server], authority, credentials, signal })
}

/** Speaks as the kubelet of a node does. Undefined for a host that has none. */
export async function clientOfNode(
  host: Host,
  plan: NodePlan,
  signal: AbortSignal,
): Promise<KubeClient | undefined> {
  const api = nodeApi(plan)
  const kubelet = plan.components.find(({ name }) => name === 'kubelet')
  const place = kubelet?.certificates.find(({ usages }) => usages.includes('client'))
  if (api === undefined || place === undefined) return undefined
  const { certificate = '', privateKey = '' } = await readPair(host, place)
  return clientAt(api, { certificate, privateKey }, signal)
}
