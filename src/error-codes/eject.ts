import type { ErrorCodeEntries } from './entry.ts'

export const ejectCodes: ErrorCodeEntries = {
  EJECT_EXISTS: {
    summary: 'The directory for the files of `hyperkube eject` already exists.',
    remedy: 'Remove it, or name another one with `--out`. It can contain keys of the cluster.',
  },
  EJECT_NOT_WRITTEN: {
    summary: 'A file of `hyperkube eject` could not be written.',
    meaning: 'Some files were written. They can contain keys of the cluster.',
    remedy: 'Remove the directory, and check space and permissions. Then run the same command again.',
  },
  EJECT_CHANGES_PENDING: {
    summary: 'Hosts differ from cluster.yml, or are unreachable.',
    meaning: 'The files are derived from cluster.yml. They must describe what runs on all hosts.',
    remedy: 'Run `hyperkube plan`, then `hyperkube up`. Then run the same command again.',
  },
  EJECT_WINDOWS: {
    summary: 'The cluster has Windows hosts, which cannot be handed over to kubeadm.',
    remedy: 'Remove them with `hyperkube node remove HOST` first.',
  },
  EJECT_DEDICATED_ETCD: {
    summary: 'etcd runs on hosts of its own.',
    meaning: 'kubeadm runs etcd as a static pod of each control plane. Such hosts have no kubelet.',
    remedy: 'Move the members to the control planes first.',
  },
  EJECT_NO_ENDPOINT: {
    summary: 'Several control planes have no common address.',
    meaning:
      'Nodes of hyperkube reach API servers through a proxy on each host. Nodes of kubeadm need one address that reaches a healthy API server.',
    remedy:
      'Set `spec.api.endpoint` to a load balancer, or `spec.api.virtualIP`. Run `hyperkube up`, then run the same command again.',
  },
  EJECT_IPV6_FIRST: {
    summary: 'The first network of pods and Services is an IPv6 network.',
    meaning:
      'API servers then advertise an IPv6 address, while etcd uses IPv4. kubeadm has one address of each host for both.',
    remedy: 'Keep this cluster with hyperkube, or move the workloads to a new cluster of kubeadm.',
  },
  EJECT_HELD_UPGRADE: {
    summary: 'An upgrade is held, so control planes emulate the previous version.',
    remedy: 'Confirm the upgrade or roll it back first.',
  },
  EJECT_ROTATION: {
    summary: 'A CA or the service account key is being replaced.',
    meaning: 'During a replacement two keys are trusted. Files of kubeadm have one.',
    remedy: 'Continue the rotation to its end first.',
  },
  EJECT_KUBE_PROXY: {
    summary: 'kube-proxy has settings that the DaemonSet of kubeadm cannot have.',
    meaning: 'kubeadm has one configuration of kube-proxy for all nodes, and no flags.',
    remedy:
      'Give all hosts the same `spec.components.kubeProxy.config`, or accept the configuration of the first control plane with `--ignore EJECT_KUBE_PROXY`.',
  },
  EJECT_SECRET_MISSING: {
    summary: 'The identity does not contain a key that kubeadm needs.',
    remedy: 'Restore `cluster.identity` from a backup.',
  },
}
