import type { ComponentPlan } from '../../contract/component-plan.ts'
import { EtcdClient } from '../../etcd/client.ts'
import { authoritiesOf } from '../apply/plan-cas.ts'
import { readPair } from '../apply/installed-key-pair.ts'
import type { WatchedPlan } from '../heal/watch-plan.ts'
import type { Host } from '../host/host.ts'
import { pairMark } from './certificate-stamp.ts'

export interface OwnMember {
  readonly client: EtcdClient
  readonly endpoint: string
  readonly component: ComponentPlan
}

export interface OwnMemberScene {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
  readonly signal: AbortSignal
  /** Where members listen for whoever is on their own host. */
  readonly endpoint?: string
}

/**
 * The member of etcd on this host, by the certificate that is there for people of the host. One connection is kept until
 * the certificate or the plan is another one. Undefined where there is no member.
 */
export function ownMember(scene: OwnMemberScene): () => Promise<OwnMember | undefined> {
  const { host, plan, signal, endpoint = 'https://127.0.0.1:2379' } = scene
  let known: { readonly mark: string; readonly member: OwnMember } | undefined
  return async () => {
    const watched = await plan()
    const component = watched?.plan.components.find(({ name }) => name === 'etcd')
    const place = component?.certificates.find(({ usages }) => !usages.includes('server'))
    if (watched === undefined || component === undefined || place === undefined) return undefined
    const mark = `${watched.digest} ${await pairMark(host, place)}`
    if (known?.mark === mark) return known.member
    known?.member.client.close()
    const { certificate = '', privateKey = '' } = await readPair(host, place)
    const authority = authoritiesOf(watched.plan, 'etcd')
      .map((one) => one.toString())
      .join('\n')
    const credentials = { certificate, privateKey }
    const client = new EtcdClient({ endpoints: [endpoint], authority, credentials, signal })
    known = { mark, member: { client, endpoint, component } }
    return known.member
  }
}
