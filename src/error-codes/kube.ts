import type { Entries } from './entry.ts'

export const kube: Entries = {
  CREDENTIALS_NOT_READ: {
    summary: 'The certificate or the key with which hyperkube introduces itself is of no use.',
    meaning:
      'A file is not there or may not be read, or certificate and key do not belong together. It is about the API and etcd alike.',
    remedy:
      '`ls -l` shows the files of the message; `openssl x509 -noout -subject -enddate -in FILE` what a certificate is.',
  },
  KUBE_UNREACHABLE: {
    summary: 'No API server answers.',
    meaning:
      'It was tried again until the time was over. What was to be done may have been done, where the hint says so: the answer may have been lost.',
    remedy:
      'On a control plane: `systemctl status kube-apiserver etcd` and `journalctl -u kube-apiserver -n 50`. From elsewhere: can its port 6443 be reached.',
    symptoms: ['certificates'],
  },
  KUBE_UNTRUSTED: {
    summary: 'What answers is not an API server of this cluster, or it does not take our certificate.',
    meaning:
      'Nothing was sent to it. The certificate of one side is not signed by the authority of the other.',
    remedy:
      'Look at the address: another cluster may have it. `openssl s_client -connect ADDRESS:6443 </dev/null` shows who answers. After a restored identity, certificates must be made anew.',
  },
  KUBE_UNAUTHORIZED: {
    summary: 'The API server does not know who we are.',
    meaning: 'Our certificate has run out, or is not of this cluster.',
    remedy: '`openssl x509 -noout -subject -enddate -in FILE`, and `date -u` on both machines.',
  },
  KUBE_FORBIDDEN: {
    summary: 'The API server knows who we are, and does not let us do it.',
    meaning: 'RBAC gives the right to nobody whom our certificate names.',
    remedy: '`kubectl auth can-i VERB RESOURCE --as USER` says who may; the message has all three.',
  },
  KUBE_NOT_FOUND: {
    summary: 'An object is not there.',
    remedy: '`kubectl get KIND -A` shows those that are.',
  },
  KUBE_CONFLICT: {
    summary: 'An object is already there, was changed meanwhile, or has fields that others own.',
    meaning: 'Nothing was changed.',
    remedy:
      'Run the command again: it reads the object anew. Who owns its fields shows `kubectl get KIND NAME -o yaml --show-managed-fields`.',
  },
  KUBE_EXPIRED: {
    summary: 'What was asked for is too old: the API has forgotten it.',
    meaning: 'It was read in several parts, and between them etcd was tidied up.',
    remedy: 'Run the command again.',
  },
  KUBE_INVALID: {
    summary: 'The API does not take an object as it is.',
    meaning: 'Nothing was changed. The message says which field, and what is wrong with it.',
    remedy:
      'Mend it where it comes from: a manifest of yours, or a value in cluster.yml. If it is an object of hyperkube’s own, please report it.',
  },
  KUBE_TOO_MANY: {
    summary: 'The API server has too much to do, or a pod disruption budget forbids an eviction.',
    meaning:
      'Crowds are waited for; this one lasted too long. A budget is an answer, and is not asked twice.',
    remedy:
      'For a crowd: `kubectl get --raw /metrics | grep apiserver_flowcontrol_current_inqueue` shows whose it is. For a budget: `kubectl get poddisruptionbudgets -A`.',
  },
  KUBE_SERVER: {
    summary: 'The API server could not do what it was asked to.',
    meaning: 'Mostly its etcd is away or slow; a webhook that does not answer looks the same.',
    remedy:
      '`kubectl get --raw "/readyz?verbose"` shows what it misses, `journalctl -u kube-apiserver -n 50` on its host what happened.',
  },
  KUBE_ANSWER: {
    summary: 'The API server’s answer is not what it should be.',
    meaning: 'Something else answers in its place, or it is of a version that this hyperkube does not know.',
    remedy: 'Compare `kubectl version` with what `hyperkube validate` says of versions.',
  },
  KUBE_KIND_UNKNOWN: {
    summary: 'The cluster knows no objects of this kind.',
    meaning:
      'Its CustomResourceDefinition is not there yet, or Kubernetes no longer has this version of the kind.',
    remedy: '`kubectl api-resources` lists the kinds there are.',
  },
}
