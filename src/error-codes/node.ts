import type { ErrorCodeEntries } from './entry.ts'

export const nodeCodes: ErrorCodeEntries = {
  NODE_UNKNOWN: {
    summary: 'The cluster has no node with this name.',
    meaning:
      'The node has not registered yet, was removed, or has another `nodeName` in cluster.yml. A dedicated etcd host is not a node.',
    remedy: '`kubectl get nodes` lists the nodes, `hyperkube status` the hosts.',
  },
  NODE_CORDONED_BY_OTHERS: {
    summary: 'The node was cordoned by a person or another program, and hyperkube keeps it cordoned.',
    meaning:
      'hyperkube marks its own cordon with the annotation `hyperkube.dev/cordoned`, which is missing here.',
    remedy:
      'Find out why it was cordoned. To uncordon it anyway, run `hyperkube node uncordon NAME --force`.',
  },
  NODE_PODS_UNMANAGED: {
    summary: 'The node has pods without a controller, which no controller would create again.',
    meaning: 'They were created by hand, without a Deployment or Job. Without `--force` nothing was changed.',
    remedy:
      'Save the pods that you need: `kubectl -n NAMESPACE get pod NAME -o yaml`. Then use `--force` to delete them.',
  },
  NODE_PODS_LOCAL_DATA: {
    summary: 'The node has pods with local data.',
    meaning:
      'An `emptyDir` is deleted with its pod. A local volume stays on the node, and its pod waits until the node is schedulable again.',
    remedy: 'No action is needed for caches, or if the node comes back. Otherwise copy the data first.',
  },
  DRAIN_IMPOSSIBLE: {
    summary: 'A pod disruption budget never allows the eviction of some pods.',
    meaning:
      'It requires as many healthy pods as exist or allows no disruption, or two budgets select the same pod. Nothing was changed.',
    remedy:
      'Check `kubectl get poddisruptionbudgets -A`. Add replicas or relax the budget. `--ignore DRAIN_IMPOSSIBLE` evicts the other pods and waits for these until the deadline.',
  },
  DRAIN_BLOCKED: {
    summary: 'Pods are still on the node at the deadline.',
    meaning:
      'The message lists the pods that a budget blocks and those that do not terminate. The other pods were evicted, and the node stays cordoned.',
    remedy:
      'For budgets check `kubectl get poddisruptionbudgets -A`. For other pods check `kubectl -n NAMESPACE describe pod NAME`: a long grace period, a finalizer, or a stopped kubelet. Then run the same command again, or give up with `hyperkube node uncordon NAME`.',
  },
}
