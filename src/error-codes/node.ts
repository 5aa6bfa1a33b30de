import type { Entries } from './entry.ts'

export const node: Entries = {
  NODE_UNKNOWN: {
    summary: 'The cluster has no node of this name.',
    meaning:
      'It has not registered yet, was taken out, or is called otherwise: `nodeName` in cluster.yml. A host with the role etcd alone is no node.',
    remedy: '`kubectl get nodes` shows those that there are, `hyperkube status` how the hosts are.',
  },
  NODE_CORDONED_BY_OTHERS: {
    summary: 'Somebody else has cordoned the node, and hyperkube leaves it so.',
    meaning:
      'A cordon of hyperkube’s own bears the annotation `hyperkube.dev/cordoned`; this one does not. It was there before a drain, or was set by hand.',
    remedy: 'Ask who did it, and why. To take it away all the same: `hyperkube node uncordon NAME --force`.',
  },
  NODE_PODS_UNMANAGED: {
    summary: 'There are pods on the node that nobody makes anew once they have ended.',
    meaning:
      'They were made by hand, without a Deployment, Job or other controller. Without `--force` nothing was done.',
    remedy:
      'Keep what you need of them: `kubectl -n NAMESPACE get pod NAME -o yaml`. Then `--force` says that they may go.',
  },
  NODE_PODS_LOCAL_DATA: {
    summary: 'There are pods on the node with data that is only there.',
    meaning:
      'What is in an `emptyDir` ends with its pod. A claimed volume that is a directory of the node stays there, but its pod runs nowhere else: it waits until the node takes pods again.',
    remedy:
      'Nothing, where that is as it should be: caches, or a node that comes back. Otherwise copy the data first.',
  },
  DRAIN_NEVER: {
    summary: 'A budget lets pods of the node never go, however long one waits.',
    meaning:
      'It wants as many healthy pods as there are, allows none to be away, or the pod is counted by two budgets, which the API does not take. Nothing was done.',
    remedy:
      '`kubectl get poddisruptionbudgets -A`. Run more replicas than the budget wants, or let it allow more. `--ignore DRAIN_NEVER` moves the others, and waits for these until the deadline.',
  },
  DRAIN_BLOCKED: {
    summary: 'Pods are still on the node at the deadline.',
    meaning:
      'The message names each: those that a budget does not let go, with its numbers, and those that do not end. What could be moved was, and the node stays cordoned.',
    remedy:
      'Of budgets: `kubectl get poddisruptionbudgets -A` shows how many healthy pods they miss. Of pods that do not end: `kubectl -n NAMESPACE describe pod NAME`, mostly a long grace period, a finalizer, or a kubelet that is away. Then run the same command again, or give up with `hyperkube node uncordon NAME`.',
  },
}
