import { buildCommonAttacks, nodeAttacks } from './api-attacks.ts'
import { type Attack, type AttackContext, attemptRequest, getApiOrigin } from './attack.ts'
import { attemptRenewal } from './renewal-attacks.ts'
import type { Loot, StolenCertificate } from './stolen-credentials.ts'

const nodeUser = 'system:node:w1'

/**
 * Attacks with the tokens of pods on the worker. An attacker who escapes from a pod finds the same tokens.
 */
export function buildPodAttacks(context: AttackContext): Attack[] {
  const api = getApiOrigin(context)
  return context.loot.tokens.flatMap((token) =>
    buildCommonAttacks(token.account.split('/')[0] ?? '').map((attempt) => ({
      attacker: 'pod escape on a worker' as const,
      what: `${token.account}: ${attempt.what}`,
      run: async () => attemptRequest(api, token, attempt),
    })),
  )
}

/** Attacks with the client certificates of the worker, against all servers of the cluster. */
export function buildWorkerAttacks(context: AttackContext): Attack[] {
  const attacker = 'root on a worker' as const
  const { loot } = context
  const api = getApiOrigin(context)
  const clients = loot.certificates.filter(({ path }) => !path.endsWith('server'))
  return [
    ...clients.flatMap((client) =>
      [...buildCommonAttacks('default'), ...(client.commonName === nodeUser ? nodeAttacks : [])].map(
        (attempt) => ({
          attacker,
          what: `${client.path}: ${attempt.what}`,
          run: async () => attemptRequest(api, client, attempt),
        }),
      ),
    ),
    ...clients.flatMap((client) =>
      listServers(context).map(({ what, origin, path }) => ({
        attacker,
        what: `${client.path}: ${what}`,
        run: async () => attemptRequest(origin, client, { method: 'GET', path }),
      })),
    ),
  ]
}

/** Uses the node identity of w1 to request renewals of certificates that leaked from w2. */
export function buildRenewalAttacks(context: AttackContext): Attack[] {
  const node = findCertificate(context.loot, 'kubelet/client')
  return context.otherLoot.certificates.map((previous) => ({
    attacker: 'root on a worker',
    what: `${node.path}: renew ${previous.path} of w2`,
    run: async () => attemptRenewal(context, { requester: node, previous }),
  }))
}

/** Servers of other hosts that a worker can reach. */
function listServers({ cluster }: AttackContext) {
  const addressOf = (name: string): string => cluster.hosts.find((host) => host.name === name)?.address ?? ''
  const [control, worker] = [addressOf('cp1'), addressOf('w2')]
  return [
    { what: 'read etcd', origin: `https://${control}:2379`, path: '/version' },
    { what: 'join etcd as a peer', origin: `https://${control}:2380`, path: '/members' },
    {
      what: 'list pods at the kubelet of a control plane',
      origin: `https://${control}:10250`,
      path: '/pods',
    },
    { what: 'list pods at the kubelet of another worker', origin: `https://${worker}:10250`, path: '/pods' },
    { what: 'read metrics of kube-controller-manager', origin: `https://${control}:10257`, path: '/metrics' },
    { what: 'read metrics of kube-scheduler', origin: `https://${control}:10259`, path: '/metrics' },
  ]
}

/** Attacks with everything that w2 knew, after `node remove w2`. */
export function buildRemovedHostAttacks(context: AttackContext): Attack[] {
  const attacker = 'removed host' as const
  const node = findCertificate(context.otherLoot, 'kubelet/client')
  const api = getApiOrigin(context)
  return [
    ...context.otherLoot.certificates.map((previous) => ({
      attacker,
      what: `renew ${previous.path}`,
      run: async () => attemptRenewal(context, { requester: node, previous }),
    })),
    {
      attacker,
      what: 'register its node again',
      run: async () =>
        attemptRequest(api, node, {
          method: 'POST',
          path: '/api/v1/nodes?dryRun=All',
          body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'w2' } },
        }),
    },
  ]
}

export function findCertificate({ certificates }: Loot, suffix: string): StolenCertificate {
  const found = certificates.find(({ path }) => path.endsWith(suffix))
  if (found === undefined) throw new Error(`the host has no certificate ${suffix}`)
  return found
}
