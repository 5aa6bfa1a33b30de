import type { Finding } from '../../contract/finding.ts'
import type { EtcdClient } from '../../etcd/client.ts'
import type { Identity } from '../../identity/identity.ts'
import type { KeyName } from '../../identity/replace-key.ts'
import type { Phase } from '../../identity/replacement.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import type { KubeClient } from '../../kube/client.ts'
import { firstFew } from '../../kit/truncate-list.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { published, type PublishedAuthority, unpublish } from './published-cas.ts'
import { encryptedWith } from './find-encrypted.ts'
import { encryptionLoaded } from './encryption-loaded.ts'
import type { Patience } from './poll.ts'
import { distrustedInside, trustedInside } from './pod-trust.ts'
import { nameOf, workloadsBefore } from './stale-pods.ts'
import { restartAll } from './restart-workloads.ts'
import { encryptedKinds, rewriteAll } from './rewrite-objects.ts'
import { tokenLifetime, tokenSecrets } from './token-secrets.ts'

/** A cluster whose hosts have all come to a phase, and what may be done to it. */
export interface Settling extends Patience {
  readonly identity: Identity
  readonly api: KubeClient
  readonly etcd: Pick<EtcdClient, 'read'>
  /** Whether pods of others than ours may be made anew. */
  readonly restartPods: boolean
  /** How many objects were written anew by now. */
  readonly progress: (written: number) => void
}

/** What keeps the next phase from being safe. */
type Settle = (cluster: Settling) => Promise<readonly Finding[]>

export interface Settlement {
  readonly title: string
  readonly settle: Settle
}

/** What is to be done in the cluster itself before a key goes on from a phase; of most there is nothing. */
export function settlementOf(key: KeyName, phase: Phase): Settlement | undefined {
  return settlements.get(`${key} ${phase}`)
}

const settlements: ReadonlyMap<string, Settlement> = new Map<`${KeyName} ${Phase}`, Settlement>([
  ['kubernetes trust', { title: 'pods that trust the new authority', settle: podsTrust }],
  ['kubernetes distrust', forgetting('kubernetes')],
  ['front-proxy trust', { title: 'the new authority in what the API tells', settle: proxyTrusted }],
  ['front-proxy distrust', forgetting('front-proxy')],
  ['service-account switch', { title: 'tokens that were signed with the former key', settle: tokensOver }],
  ['encryption trust', { title: 'all API servers can read what the new key writes', settle: loaded }],
  ['encryption switch', { title: 'all Secrets and ConfigMaps written with the new key', settle: rewritten }],
  ['encryption distrust', { title: 'all API servers work without the former key', settle: formerGone }],
])

/** Programs read whom to trust when they begin, so those that began before are made anew. */
async function podsTrust(cluster: Settling): Promise<readonly Finding[]> {
  const { identity, api, restartPods, signal } = cluster
  const { replacement } = identity.authorities.kubernetes
  if (replacement?.phase !== 'trust') return []
  await published(api, 'kubernetes', replacement.next.certificate, cluster)
  const since = await trustedInside(api, replacement.next.certificate, cluster)
  const before = await workloadsBefore(api, since, signal)
  const isMine = ({ kind, ours }: (typeof before)[number]): boolean =>
    kind !== 'other' && (ours || restartPods)
  await restartAll(api, before.filter(isMine), cluster)
  const others = before.filter((workload) => !isMine(workload)).map(nameOf)
  if (others.length === 0) return []
  return [
    {
      code: 'KEYS_PODS_TRUST_FORMER',
      severity: 'error',
      message: `pods began before they could know the new authority: ${firstFew(others, 6)}`,
      hint: 'kubectl rollout restart, and the same command again; or with --restart-pods',
    },
  ]
}

async function proxyTrusted(cluster: Settling): Promise<readonly Finding[]> {
  const { replacement } = cluster.identity.authorities.frontProxy
  if (replacement?.phase === 'trust')
    await published(cluster.api, 'front-proxy', replacement.next.certificate, cluster)
  return []
}

function forgetting(authority: PublishedAuthority): Settlement {
  return {
    title: 'the former authority out of what the API tells',
    async settle(cluster) {
      const { identity, api, signal } = cluster
      const slot = authority === 'kubernetes' ? 'kubernetes' : 'frontProxy'
      const { replacement } = identity.authorities[slot]
      if (replacement?.phase !== 'distrust') return []
      await unpublish(api, authority, replacement.former, signal)
      if (authority === 'kubernetes') await distrustedInside(api, replacement.former, cluster)
      return []
    },
  }
}

async function tokensOver({ identity, api, now, signal }: Settling): Promise<readonly Finding[]> {
  const { replacement } = identity.serviceAccount
  if (replacement?.phase !== 'switch') return []
  const over = Date.parse(replacement.since ?? now().toISOString()) + tokenLifetime
  const kept = await tokenSecrets(api, replacement.former, signal)
  const alive = (message: string, hint: string): Finding => ({
    code: 'KEYS_TOKENS_ALIVE',
    severity: 'error',
    message,
    hint,
  })
  return [
    ...(now().getTime() >= over
      ? []
      : [
          alive(
            `pods may have tokens of the former key until ${new Date(over).toISOString()}`,
            'the same command again then: it drops the former key',
          ),
        ]),
    ...(kept.length === 0
      ? []
      : [
          alive(
            `Secrets hold tokens of the former key, which never expire: ${firstFew(kept, 6)}`,
            'delete them, make them anew where they are needed, and type the same command again',
          ),
        ]),
  ]
}

async function loaded(cluster: Settling): Promise<readonly Finding[]> {
  const configuration = secretFiles(cluster.identity, []).get('encryption-configuration')
  if (configuration !== undefined) await encryptionLoaded(cluster.api, configuration, cluster)
  return []
}

async function rewritten(cluster: Settling): Promise<readonly Finding[]> {
  await loaded(cluster)
  await rewriteAll(cluster.api, encryptedKinds, cluster)
  await nothingLeft(cluster)
  return []
}

async function formerGone(cluster: Settling): Promise<readonly Finding[]> {
  await loaded(cluster)
  await nothingLeft(cluster)
  return []
}

/** Looks where it is kept, past all that the API may say. */
async function nothingLeft({ identity, etcd, signal }: Settling): Promise<void> {
  const replacement = identity.encryption?.replacement
  if (replacement === undefined || replacement.phase === 'trust') return
  const left = await encryptedWith(etcd, replacement.former.name, signal)
  if (left.length === 0) return
  const message = `etcd holds ${left.length} that are encrypted with ${replacement.former.name}: ${firstFew(left, 3)}`
  throw new HyperkubeError('KEYS_STILL_ENCRYPTED', message, {
    hint: 'the same command again writes them anew',
  })
}
