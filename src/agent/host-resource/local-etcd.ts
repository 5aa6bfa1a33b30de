import type { ComponentPlan } from '../../contract/component-plan.ts'
import { EtcdClient } from '../../etcd/client.ts'
import { findPlanCas, readInstalledPair } from '../resources/installed-key-pair.ts'
import type { WatchedPlan } from '../heal/watch-host.ts'
import type { Host } from '../host/host.ts'
import { readCertificateStamp } from './host-certificates.ts'

export interface LocalEtcdMember {
  readonly client: EtcdClient
  readonly endpoint: string
  readonly component: ComponentPlan
}

export interface LocalEtcdDeps {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
  readonly signal: AbortSignal
  /** URL of the local member. The default is the loopback address, on which etcd also listens for clients. */
  readonly endpoint?: string
}

/**
 * Returns a function that connects to the etcd member of this host with the local client certificate. The
 * connection is reused until the certificate or the plan changes. On hosts without a member the function
 * returns undefined.
 */
export function createLocalEtcdReader(deps: LocalEtcdDeps): () => Promise<LocalEtcdMember | undefined> {
  const { host, plan, signal, endpoint = 'https://127.0.0.1:2379' } = deps
  let known: { readonly stamp: string; readonly member: LocalEtcdMember } | undefined
  return async () => {
    const watched = await plan()
    const component = watched?.plan.components.find(({ name }) => name === 'etcd')
    const planned = component?.certificates.find(({ usages }) => !usages.includes('server'))
    if (watched === undefined || component === undefined || planned === undefined) return undefined
    const stamp = `${watched.digest} ${await readCertificateStamp(host, planned)}`
    if (known?.stamp === stamp) return known.member
    known?.member.client.close()
    const { certificate = '', privateKey = '' } = await readInstalledPair(host, planned)
    const ca = findPlanCas(watched.plan, 'etcd')
      .map((one) => one.toString())
      .join('\n')
    const credentials = { certificate, privateKey }
    const client = new EtcdClient({ endpoints: [endpoint], ca, credentials, signal })
    known = { stamp, member: { client, endpoint, component } }
    return known.member
  }
}
