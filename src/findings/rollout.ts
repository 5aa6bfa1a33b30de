import type { Entries } from './entry.ts'

export const rollout: Entries = {
  ROLLOUT_QUORUM: {
    summary: 'The change would leave etcd with too few members that are well.',
    meaning:
      'Without more than half of its members etcd takes no writes: the API stops, and nothing in the cluster changes any more. Nothing was done.',
    remedy:
      'Bring the member in the message back first. If its host is lost for good, take it out; then try again.',
  },
  ROLLOUT_CONTROL_PLANE_UNREACHABLE: {
    summary: 'A control plane, or a member of etcd, does not answer.',
    meaning:
      'As a warning: the cluster bears it, the others are changed, and it gets its share when it answers. As an error: the change cannot be made safely without it.',
    remedy: 'Look why it is away (`ping`, its console), bring it back, and run the same command again.',
  },
  ROLLOUT_API_AWAY: {
    summary: 'The API will be away for moments during this change.',
    meaning:
      'With one control plane, or one or two members of etcd, nobody can stand in while one restarts. Pods go on running.',
    remedy: 'Choose a quiet time; with three control planes there is no such moment.',
  },
  ROLLOUT_ROLE_REMOVED: {
    summary: 'A host shall no longer be something that it is in the running cluster.',
    meaning: 'Others count on it until it has left properly: etcd on its vote, nodes on its API server.',
    remedy: 'Give the role back in cluster.yml, or take the host out and add it again as what it shall be.',
  },
  ROLLOUT_WORKER_SKIPPED: {
    summary: 'A worker does not answer and is left behind.',
    meaning: 'The others are changed without it; it gets its share when it answers.',
    remedy: 'Look why it is away, and run the same command again once it is back.',
  },
  ROLLOUT_TOO_MANY_UNREACHABLE: {
    summary: 'More workers are away than may be at once.',
    meaning:
      'Going on would take more workers out of service than `spec.rollout.maxUnavailable` allows. Nothing was done.',
    remedy: 'Bring them back, take lost ones out of cluster.yml, or raise `spec.rollout.maxUnavailable`.',
  },
}
