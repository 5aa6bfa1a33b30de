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
