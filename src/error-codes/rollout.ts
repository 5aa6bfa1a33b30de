import type { ErrorCodeEntries } from './entry.ts'

export const rolloutCodes: ErrorCodeEntries = {
  ROLLOUT_QUORUM: {
    summary: 'The change would leave etcd without enough healthy members.',
    meaning: 'Without a majority etcd accepts no writes, and the API stops. Nothing was changed.',
    remedy:
      'Bring the member from the message back first. If its host is lost, run `hyperkube node remove HOST`, then run the same command again.',
    symptoms: ['no-way'],
  },
  ROLLOUT_CONTROL_PLANE_UNREACHABLE: {
    summary: 'A control plane or an etcd member is unreachable.',
    meaning:
      'As a warning, the rollout skips it and changes the other hosts. As an error, the change is not safe without it.',
    remedy: 'Check the host with `ping` or its console and bring it back. Then run the same command again.',
  },
  ROLLOUT_API_DOWNTIME: {
    summary: 'The API will be unavailable for a moment during this change.',
    meaning:
      'A single control plane, or one or two etcd members, cannot restart without downtime. Pods keep running.',
    remedy: 'Choose a quiet time. Three control planes avoid the downtime.',
  },
  ROLLOUT_ROLE_REMOVED: {
    summary: 'cluster.yml removes a role that a host has in the running cluster.',
    meaning: 'Peers rely on the role until the host is removed: etcd on its vote, nodes on its API server.',
    remedy:
      'Restore the role in cluster.yml. Or run `hyperkube node remove HOST`, then add the host with its new roles.',
  },
  ROLLOUT_REMOVED_UNREACHABLE: {
    summary: 'A host to remove is unreachable or compromised, and will be removed without its agent.',
    meaning:
      'hyperkube deletes its etcd member and its node, and its pods start elsewhere. If the host still runs, its pods run twice.',
    remedy:
      'Make sure that the host stays off. If it comes back, write it into cluster.yml again, run `hyperkube reset --limit HOST`, and remove it from cluster.yml. Do not run `up` before the reset. A control plane also needs `--ignore RESET_CONTROL_PLANE`.',
  },
  UPGRADE_DOWNGRADE: {
    summary: 'The change would downgrade a Kubernetes minor version, or any version with `upgrade`.',
    meaning: 'An older Kubernetes may not read the data that a newer one has stored. Nothing was changed.',
    remedy:
      'Keep the version or upgrade. To return to the older version, restore a snapshot from before the upgrade: `hyperkube etcd snapshot restore NAME`.',
  },
  UPGRADE_SKIPS_MINOR: {
    summary: 'The upgrade would skip a minor version.',
    meaning:
      'API servers read the stored data of the previous minor version, but of no older one. Nothing was changed.',
    remedy: '`hyperkube upgrade --to VERSION` upgrades through all minor versions in between.',
  },
  UPGRADE_SKEW: {
    summary: 'A kubelet is too old for the desired API server version.',
    meaning: 'A kubelet may be at most three minor versions older than its API server. Nothing was changed.',
    remedy: 'Upgrade the node first, or remove it with `hyperkube node remove HOST`.',
  },
  UPGRADE_KUBE_PROXY: {
    summary: 'kube-proxy runs as a DaemonSet that an upgrade does not change.',
    meaning:
      'A cluster that was adopted from kubeadm keeps the kube-proxy of kubeadm. It may be at most three minor versions older than the API servers, and never newer.',
    remedy:
      'Upgrade in steps of at most three minors. After each step set the image of the DaemonSet to the version of the API servers, with the command that the message names.',
  },
  UPGRADE_API_REMOVED: {
    summary: 'A client uses an API that the desired version no longer has.',
    meaning:
      'An API server has counted such requests since its start. They would fail after the upgrade. Nothing was changed.',
    remedy:
      'Find the client in the audit log below `/var/log/hyperkube` and update it. If it was a single manual request, use `--ignore UPGRADE_API_REMOVED`.',
  },
  REHEARSAL_API_NOT_STARTED: {
    summary: 'kube-apiserver did not start on a copy of the data.',
    meaning:
      'The rehearsal ran on this machine. An upgrade would fail in the same way. The cluster was not changed.',
    remedy:
      'The message has the error of kube-apiserver. Usually a flag, feature gate or API of `spec.components.apiServer.args` no longer exists.',
  },
  REHEARSAL_CRD_INVALID: {
    summary: 'The desired version does not accept a CRD.',
    meaning:
      'The CRD is refused, or its conditions show that its objects cannot be used. The cluster was not changed.',
    remedy: 'Correct the CRD, or update the program that installed it, before the upgrade.',
  },
  REHEARSAL_NOT_COMPARED: {
    summary: 'Objects could not be read before the upgrade, so nothing was compared.',
    meaning:
      'The rehearsal calls no webhooks. Objects that only a conversion webhook can convert cannot be read. The cluster was not changed.',
    remedy: 'Check that the objects can be listed on the cluster, and that their conversion webhook runs.',
  },
  REHEARSAL_OBJECTS_LOST: {
    summary: 'The desired version does not list all objects that exist now.',
    meaning:
      'The objects are in the snapshot, but the desired version does not return them. The cluster was not changed.',
    remedy: 'Do not upgrade. Save the objects with `hyperkube kubectl get` and report the problem.',
  },
  REHEARSAL_UNREADABLE: {
    summary: 'The desired version cannot read objects that the current version can read.',
    meaning: 'The objects would be lost for every client after an upgrade. The cluster was not changed.',
    remedy: 'Correct or delete the objects that the message names, then rehearse again.',
  },
  REHEARSAL_WEBHOOK_BLOCKS: {
    summary: 'A webhook without a ready endpoint would block the upgrade.',
    meaning:
      'The webhook must allow writes of nodes, pods or leases, and fails closed. Drains and new pods would fail. The cluster was not changed.',
    remedy: 'Start the pods of the webhook, or delete its configuration if its program was removed.',
  },
  UPGRADE_MANIFEST_REMOVED: {
    summary: 'A manifest has an API version that a later Kubernetes version of the upgrade no longer serves.',
    meaning:
      'The message names the minor that removes it. For a file of your addons this is an error, because `up` could not apply it any more. For an object in the cluster it is a warning: the object stays, but the file from which it was applied no longer works.',
    remedy: 'Change the manifest to the API version in the hint and apply it before the upgrade.',
  },
  UPGRADE_ETCD: {
    summary: 'The upgrade would break a rule of etcd’s own upgrades.',
    meaning:
      'etcd is upgraded one minor version at a time, and 3.5 needs a patch with corrected membership data before 3.6. Nothing was changed.',
    remedy:
      '`hyperkube lock` and `hyperkube up` bring etcd to the version of the catalog. Then start the upgrade again.',
  },
  UPGRADE_NO_PATH: {
    summary: 'This hyperkube release supports no version of a minor version in between.',
    meaning: 'Minor versions cannot be skipped. Nothing was changed.',
    remedy:
      'Upgrade to that minor version with a hyperkube release that supports it. Then continue with this release.',
  },
  UPGRADE_HELD: {
    summary: 'Another upgrade is held and must end first.',
    meaning:
      'Control planes run programs of the new version, which emulate the previous minor. Nothing was changed.',
    remedy:
      'Finish it with `hyperkube upgrade confirm`, or undo it with `hyperkube upgrade rollback`. Then upgrade again.',
  },
  UPGRADE_NOT_HELD: {
    summary: 'There is no held upgrade to confirm or roll back.',
    meaning: '`spec.heldUpgrade` is not in cluster.yml. Nothing was changed.',
    remedy:
      'If a confirmation or a rollback was interrupted, `hyperkube up` resumes it. After a confirmation, only a snapshot returns to the previous version.',
  },
  UPGRADE_HOLD_UNSUPPORTED: {
    summary: 'This upgrade cannot be held.',
    meaning:
      'A hold needs exactly one minor, programs that can emulate it, and a test that the old programs read what the new ones stored. Nothing was changed.',
    remedy: 'Choose a path from the message, or upgrade without `--hold`.',
  },
  UPGRADE_HOLD_WORKERS: {
    summary: 'An upgrade cannot be held while workers have an older version than control planes.',
    meaning: 'Workers must have `spec.kubernetes` before an upgrade is held. Nothing was changed.',
    remedy:
      'Bring workers to the version of the control planes with `hyperkube upgrade --to VERSION`. Then hold the upgrade.',
  },
  UPGRADE_HOLD_BUNDLE: {
    summary: 'A cluster that installs from an air-gap bundle cannot hold an upgrade.',
    meaning:
      'A bundle has one version of each file, and a hold needs two versions of the control plane programs.',
    remedy: 'Use a mirror in `spec.artifacts`, or upgrade without `--hold`.',
  },
  UPGRADE_HOLD_FLAG: {
    summary: 'A flag in cluster.yml changes what an emulating program serves or stores.',
    meaning: 'With this flag the previous version might not read what was stored. Nothing was changed.',
    remedy: 'Remove the flag from `spec.components`, or upgrade without `--hold`.',
  },
  ROLLOUT_ROLLED_BACK: {
    summary: 'A host failed with the new configuration and was rolled back.',
    meaning:
      'The host is healthy with its previous configuration. Earlier hosts have the new configuration; later hosts are unchanged.',
    remedy:
      'The message says what failed and why. Fix it and run `hyperkube up`; the rollout resumes with this host.',
  },
  ROLLBACK_FAILED: {
    summary: 'A host failed with the new configuration, and its rollback failed too.',
    meaning: 'Later hosts are unchanged. The cause is on the host itself.',
    remedy:
      'Check the service from the message on that host with `journalctl -u SERVICE`. Fix it and run `hyperkube up`.',
  },
  ROLLOUT_WORKER_SKIPPED: {
    summary: 'A worker is unreachable and is skipped.',
    meaning: 'The other hosts are changed. The worker gets the change in a later run.',
    remedy: 'Bring the worker back, then run the same command again.',
  },
  ROLLOUT_TOO_MANY_UNREACHABLE: {
    summary: 'More workers are unreachable than `spec.rollout.maxUnavailable` allows.',
    meaning: 'Continuing would make even more workers unavailable. Nothing was changed.',
    remedy:
      'Bring the workers back, remove lost ones from cluster.yml, or raise `spec.rollout.maxUnavailable`.',
  },
}
