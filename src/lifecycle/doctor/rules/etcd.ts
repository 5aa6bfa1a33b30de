import { clusterHealth } from '../../../etcd/cluster-health.ts'
import { quorumNow } from '../../../etcd/quorum.ts'
import { titleOf } from '../../../etcd/member.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { isForPeople } from '../code-order.ts'
import { probesOf } from './probes.ts'

const component = 'etcd'

/** etcd as an operator sees it: as a whole, and what its members tell of each other. */
export function etcdOfAll(look: Look): Diagnosis[] {
  return [...lostQuorum(look), ...members(look)]
}

function lostQuorum({ etcd, hosts, places }: Look): Diagnosis[] {
  const voters = places.filter((place) => place.etcd)
  // Where nobody could be asked, nobody knows.
  const isAnyThere = voters.some(
    ({ host }) => hosts.find(({ place }) => place.host === host)?.away === undefined,
  )
  const evidence = whyNone(etcd)
  if (!isAnyThere || voters.length === 0 || evidence.length === 0 || isHeard(hosts)) return []
  const since = hosts
    .flatMap(probesOf)
    .flatMap(({ code, state, since: began }) =>
      code === 'ETCD_NO_QUORUM' && state !== 'well' ? [began] : [],
    )
    .toSorted()[0]
  return [
    {
      code: 'ETCD_QUORUM_LOST',
      severity: 'error',
      what: 'etcd has no quorum: nothing can be written, and the API stands still',
      ...(since === undefined ? {} : { since }),
      component,
      evidence,
      command: commandFor({ code: 'ETCD_QUORUM_LOST' }),
      needsPerson: false,
    },
  ]
}

/** A member that is ready has just read with a quorum; an operator far away only waits longer for it than they do. */
function isHeard(hosts: Look['hosts']): boolean {
  return hosts
    .flatMap(probesOf)
    .some(({ component: of, probe, state }) => of === component && probe === 'readyz' && state === 'well')
}

function whyNone(etcd: Look['etcd']): string[] {
  if (etcd.state === 'silent') return [`no member answers: ${etcd.reason}`]
  const { members: all, health, confirmed } = etcd.observed
  const { kept, voters, well, needed } = quorumNow(all, health)
  if (kept && confirmed) return []
  const unwell = all.filter(({ id }) => health.get(id)?.ready !== true)
  return [
    `${well} of ${voters} members are well, and ${needed} are needed`,
    ...unwell.map((member) => `${titleOf(member)}: ${health.get(member.id)?.reason ?? 'it was not asked'}`),
  ]
}

/** That there is no quorum is told as a whole. */
function members({ etcd }: Look): Diagnosis[] {
  if (etcd.state === 'silent') return []
  return clusterHealth(etcd.observed)
    .filter(({ code }) => code !== 'ETCD_NO_QUORUM')
    .map(({ code, severity, message, host, hint }) => ({
      code,
      severity,
      what: message,
      ...(host === undefined ? {} : { host }),
      component,
      evidence: [],
      command: hint ?? commandFor({ code, host, component }),
      needsPerson: isForPeople(code),
    }))
}
