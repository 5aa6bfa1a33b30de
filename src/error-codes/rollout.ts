import type { Entries } from './entry.ts'

export const rollout: Entries = {
  ROLLOUT_QUORUM: {
    summary: 'The change would leave etcd with too few members that are well.',
    meaning:
      'Without more than half of its members etcd takes no writes: the API stops, and nothing in the cluster changes any more. Nothing was done.',
    remedy:
      'Bring the member in the message back first. If its host is lost for good, take it out; then try again.',
    symptoms: ['no-way'],
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
  ROLLOUT_HOST_LOST: {
    summary: 'A host that shall leave does not answer, and is taken out without its help.',
    meaning:
      'Its member of etcd and its node go, and its pods start elsewhere. If the host still runs, its pods run twice until it is off.',
    remedy:
      'Make sure that it is off for good. When it comes back, `hyperkube reset --limit HOST` with a cluster.yml that names it takes away what is left on it.',
  },
  UPGRADE_BACK: {
    summary: 'A minor version, or with `upgrade` any version, would be gone back.',
    meaning: 'What a newer Kubernetes has stored, an older one may not be able to read. Nothing was done.',
    remedy: 'Stay, or go forward. The way back is a snapshot from before the upgrade, restored.',
  },
  UPGRADE_SKIPS_MINOR: {
    summary: 'A minor version would be skipped.',
    meaning:
      'API servers understand what the minor version before them has stored, and no older one. Nothing was done.',
    remedy: '`hyperkube upgrade --to VERSION` goes through those in between, one after the other.',
  },
  UPGRADE_SKEW: {
    summary: 'A kubelet is too old for the API servers that are wished.',
    meaning: 'A kubelet may be three minor versions older than the API server it talks to. Nothing was done.',
    remedy: 'Bring the node up to date first, or take it out with `hyperkube node remove`.',
  },
  UPGRADE_API_REMOVED: {
    summary: 'Somebody uses an API that the wished version has no more.',
    meaning:
      'An API server has counted requests for it since it started. After the upgrade they would fail. Nothing was done.',
    remedy:
      'Look in the audit log who asks (`/var/log/hyperkube`), and move them to a newer version of that API. If it was a single request by hand, `--ignore UPGRADE_API_REMOVED`.',
  },
  UPGRADE_NO_PATH: {
    summary: 'This hyperkube knows no version of a minor that lies on the way.',
    meaning: 'Minor versions cannot be skipped. Nothing was done.',
    remedy: 'Go through that minor with the hyperkube release that knows it, then on with this one.',
  },
  ROLLOUT_WENT_BACK: {
    summary: 'A host did not come up with what was new, and went back to what it had before.',
    meaning:
      'The host is well, as it was. No other host was touched after it; those before it have what is new.',
    remedy:
      'The message says what did not come up and why. Mend that, and run `hyperkube up`: it goes on with this host.',
  },
  ROLLOUT_NOT_BACK: {
    summary: 'A host did not come up with what was new, nor with what it had before.',
    meaning: 'No other host was touched after it. Something on the host itself stands in the way.',
    remedy:
      'Look at the service of the message on that host (`journalctl -u SERVICE`), mend it, and run `hyperkube up`.',
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
