import type { ErrorCodeEntries } from './entry.ts'

export const kubeCodes: ErrorCodeEntries = {
  CREDENTIALS_NOT_READ: {
    summary: 'hyperkube cannot use its client certificate or key for the API or etcd.',
    meaning: 'A file is missing or unreadable, or the certificate and the key do not match.',
    remedy:
      '`ls -l` shows the files from the message. `openssl x509 -noout -subject -enddate -in FILE` shows a certificate.',
  },
  KUBE_UNREACHABLE: {
    summary: 'No API server responds.',
    meaning:
      'hyperkube retried until the timeout. If the hint says so, the request may have been applied and only the response was lost.',
    remedy:
      'On a control plane run `systemctl status kube-apiserver etcd` and `journalctl -u kube-apiserver -n 50`. From another machine check that port 6443 is reachable.',
    symptoms: ['certificates'],
  },
  KUBE_UNTRUSTED: {
    summary: 'The server is not an API server of this cluster, or it rejects our certificate.',
    meaning: 'hyperkube sent no request. One certificate is not signed by the CA of the other side.',
    remedy:
      'Check the address; another cluster may use it. `openssl s_client -connect ADDRESS:6443 </dev/null` shows the server certificate. After an identity was restored, the certificates must be issued again.',
  },
  KUBE_UNAUTHORIZED: {
    summary: 'The API server rejects our credentials (401).',
    meaning: 'Our certificate has expired or belongs to another cluster.',
    remedy: 'Check `openssl x509 -noout -subject -enddate -in FILE`, and `date -u` on both machines.',
  },
  KUBE_FORBIDDEN: {
    summary: 'The API server denies the request (403).',
    meaning: 'RBAC grants this permission neither to the user nor to the groups of our certificate.',
    remedy:
      '`kubectl auth can-i VERB RESOURCE --as USER` shows the permissions. The message holds all three values.',
  },
  KUBE_NOT_FOUND: {
    summary: 'The object does not exist.',
    remedy: '`kubectl get KIND -A` lists the existing objects.',
  },
  KUBE_CONFLICT: {
    summary: 'The object already exists, was changed in the meantime, or has fields of another owner.',
    meaning: 'Nothing was changed.',
    remedy:
      'Run the same command again; it reads the object again. `kubectl get KIND NAME -o yaml --show-managed-fields` shows the owners of its fields.',
  },
  KUBE_EXPIRED: {
    summary: 'The requested resource version is too old.',
    meaning: 'etcd was compacted while hyperkube read a list in several parts.',
    remedy: 'Run the same command again.',
  },
  KUBE_INVALID: {
    summary: 'The API rejects an object as invalid.',
    meaning: 'Nothing was changed. The message names the field and the error.',
    remedy:
      'Fix the source of the object: your manifest, or a value in cluster.yml. If it is an object of hyperkube, please report it.',
  },
  KUBE_TOO_MANY: {
    summary: 'The API server is overloaded, or a pod disruption budget blocks an eviction.',
    meaning:
      'hyperkube retries on overload until the timeout. It does not retry an eviction that a budget blocks.',
    remedy:
      'For overload: `kubectl get --raw /metrics | grep apiserver_flowcontrol_current_inqueue` shows the cause. For a budget: `kubectl get poddisruptionbudgets -A`.',
  },
  KUBE_SERVER: {
    summary: 'The API server failed to process the request.',
    meaning: 'Usually etcd is down or slow. A webhook that does not respond has the same effect.',
    remedy:
      '`kubectl get --raw "/readyz?verbose"` shows the failing check. `journalctl -u kube-apiserver -n 50` on its host shows the cause.',
  },
  KUBE_INVALID_RESPONSE: {
    summary: 'The API server returned an invalid response.',
    meaning:
      'Another server responds, or this hyperkube release does not know the version of the API server.',
    remedy: 'Compare `kubectl version` with the supported versions of `hyperkube validate`.',
  },
  KUBE_KIND_UNKNOWN: {
    summary: 'The cluster does not know this kind of object.',
    meaning:
      'Its CustomResourceDefinition does not exist yet, or Kubernetes has removed this version of the kind.',
    remedy: '`kubectl api-resources` lists the known kinds.',
  },
}

export const proxyCodes: ErrorCodeEntries = {
  PROXY_CONFIGURATION: {
    summary: 'apiserver-proxy has no valid configuration.',
    meaning:
      'It does not start without one. A running proxy keeps its previous configuration and logs this error.',
    remedy:
      'The agent writes the file: check `systemctl status hyperkube-agent` on the host. The message names the error.',
  },
  PROXY_NOT_LISTENING: {
    summary: 'apiserver-proxy or `hyperkube proxy` cannot listen on its address.',
    meaning: 'Usually another program uses the port, or an older proxy has not exited yet.',
    remedy:
      '`ss -tlnp` shows the process. The service on a node retries. For `hyperkube proxy` set another address with `--listen`.',
  },
}

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
