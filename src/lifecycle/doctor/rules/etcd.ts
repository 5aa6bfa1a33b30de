import { checkEtcdHealth } from '../../../etcd/cluster-health.ts'
import { formatMember } from '../../../etcd/member.ts'
import { currentQuorum } from '../../../etcd/quorum.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import { type Diagnosis, needsOperatorAction } from '../diagnosis.ts'
import { listProbes } from './probes.ts'

const component = 'etcd'

/**
 * Reports a lost quorum and the problems that members report. Both are observed from the operator's machine.
 */
export function checkEtcdCluster(observation: ClusterHealthObservation): Diagnosis[] {
  return [...findLostQuorum(observation), ...listMemberDiagnoses(observation)]
}

function findLostQuorum({ etcd, hosts, endpoints }: ClusterHealthObservation): Diagnosis[] {
  const voters = endpoints.filter(({ etcd: isMember }) => isMember)
  // If no host with an etcd member is reachable, the state of the quorum is unknown. A lost quorum is then
  // not reported.
  const isAnyReachable = voters.some(
    ({ host }) => hosts.find(({ endpoint }) => endpoint.host === host)?.unreachable === undefined,
  )
  const evidence = explainMissingQuorum(etcd)
  if (!isAnyReachable || voters.length === 0 || evidence.length === 0 || isAnyMemberReady(hosts)) return []
  const since = hosts
    .flatMap(listProbes)
    .flatMap(({ code, state, since: startedAt }) =>
      code === 'ETCD_NO_QUORUM' && state !== 'healthy' ? [startedAt] : [],
    )
    .toSorted()[0]
  return [
    {
      code: 'ETCD_QUORUM_LOST',
      severity: 'error',
      what: 'etcd has no quorum: no writes are possible, and the API is unavailable',
      ...(since === undefined ? {} : { since }),
      component,
      evidence,
      command: suggestCommand({ code: 'ETCD_QUORUM_LOST' }),
      needsOperator: false,
    },
  ]
}

/**
 * True if any member is ready. etcd then has a quorum, because a ready member has just read with a quorum.
 * The operator's own request may still have timed out on a slow connection.
 */
function isAnyMemberReady(hosts: ClusterHealthObservation['hosts']): boolean {
  return hosts
    .flatMap(listProbes)
    .some(
      ({ component: owner, probe, state }) =>
        owner === component && probe === 'readyz' && state === 'healthy',
    )
}

function explainMissingQuorum(etcd: ClusterHealthObservation['etcd']): string[] {
  if (etcd.state === 'unreachable') return [`no member is reachable: ${etcd.reason}`]
  const { members: etcdMembers, health, confirmed } = etcd.observed
  if (confirmed) return []
  const { voters, healthy, needed } = currentQuorum(etcdMembers, health)
  const unready = etcdMembers.filter(({ id }) => health.get(id)?.ready !== true)
  return [
    `${healthy} of ${voters} members are healthy, and ${needed} are needed`,
    ...unready.map((member) => `${formatMember(member)}: ${health.get(member.id)?.reason ?? 'not checked'}`),
  ]
}

/**
 * Reports problems of single members. A lost quorum is left out, because it is reported once for the whole
 * cluster.
 */
function listMemberDiagnoses({ etcd }: ClusterHealthObservation): Diagnosis[] {
  if (etcd.state === 'unreachable') return []
  const isOnlyMember = etcd.observed.members.length === 1
  return checkEtcdHealth(etcd.observed)
    .filter(({ code }) => code !== 'ETCD_NO_QUORUM')
    .map(({ code, severity, message, host, hint }) => ({
      code,
      severity,
      what: message,
      ...(host === undefined ? {} : { host }),
      component,
      evidence: [],
      command: hint ?? suggestCommand({ code, host, component, isOnlyMember }),
      needsOperator: needsOperatorAction(code),
    }))
}
