import type { Entries } from './entry.ts'

export const keys: Entries = {
  KEYS_NOT_LOADED: {
    summary: 'An API server does not work with the new configuration of encryption.',
    meaning:
      'API servers look at `encryption.yaml` once a minute, and say which one they work with. No key is used before all of them can read it, and none is dropped while one still uses it.',
    remedy:
      '`journalctl -u kube-apiserver | grep encryption` on that host; then the same command again: it goes on from there.',
  },
  KEYS_NOT_PUBLISHED: {
    summary: 'The cluster does not tell its pods of a new authority.',
    meaning:
      'The controller manager writes whom pods shall trust into every namespace, and API servers whom those shall trust that extend the API. Nothing is signed with the new authority before.',
    remedy: 'Look at `hyperkube status`, then the same command again: it goes on from there.',
  },
  KEYS_PODS_NOT_READY: {
    summary: 'Pods that were made anew to trust a new authority are not ready.',
    remedy: '`kubectl get pods -A`; then the same command again: it goes on from there.',
  },
  KEYS_PODS_TRUST_FORMER: {
    summary: 'Pods run that may not trust the new authority of the cluster.',
    meaning:
      'Most programs read whom to trust when they start. Once API servers present certificates of the new authority, these could not speak with them any more.',
    remedy:
      'Restart them (`kubectl rollout restart`), and type the same command again; or have it done with `--restart-pods`. Where none of them speaks with the API: `--ignore KEYS_PODS_TRUST_FORMER`.',
  },
  KEYS_TOKENS_ALIVE: {
    summary: 'Tokens of service accounts are in use that were signed with the former key.',
    meaning:
      'Tokens in pods are good for an hour, and replaced in time by themselves. Those that lie in Secrets never expire, and those that somebody asked for with `kubectl create token --duration` last as long as they wished. All of them end when the former key is dropped.',
    remedy:
      'Type the same command again after the time that is named. Delete and make anew the Secrets that are named. To end all of them now: `--ignore KEYS_TOKENS_ALIVE`.',
  },
  KEYS_STILL_ENCRYPTED: {
    summary: 'Something in etcd is still encrypted with the former key.',
    meaning: 'Without that key it could never be read again, so the key stays.',
    remedy: 'The same command again: it writes all of it anew, and looks once more.',
  },
}
