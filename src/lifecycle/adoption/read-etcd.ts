import type { EtcdClient } from '../../etcd/client.ts'
import { formatMember } from '../../etcd/member.ts'
import { observeEtcd } from '../../etcd/observe.ts'
import type { EtcdMembersObservation } from './observation.ts'

/** Reads the members of etcd and their health. */
export async function readAdoptedEtcd(
  client: EtcdClient,
  signal: AbortSignal,
): Promise<EtcdMembersObservation> {
  const { confirmed, members, statuses } = await observeEtcd(client, { signal })
  return {
    confirmed,
    members: members.map((member) => {
      // A member that reports a leader takes part in the quorum. Older members have no health pages.
      const status = statuses.get(member.id)
      return {
        name: formatMember(member),
        peerUrls: member.peerUrls,
        learner: member.learner,
        healthy: status?.leader !== undefined && status.errors.length === 0,
        ...(status === undefined ? {} : { version: status.version }),
      }
    }),
  }
}
