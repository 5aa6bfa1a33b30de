import type { ErrorCodeEntries } from './entry.ts'

export const keyRotationCodes: ErrorCodeEntries = {
  KEYS_NOT_LOADED: {
    summary: 'An API server has not loaded the new encryption configuration.',
    meaning:
      'API servers reload `encryption.yaml` once a minute and report the loaded version. A key is used only after all have loaded it, and dropped only after none uses it.',
    remedy:
      'Check `journalctl -u kube-apiserver | grep encryption` on that host. Then run the same command again; it resumes.',
  },
  KEYS_NOT_PUBLISHED: {
    summary: 'The cluster has not published a new CA to its pods.',
    meaning:
      'The controller manager publishes the trusted CAs to every namespace, and API servers to API extensions. The new CA signs nothing before that.',
    remedy: 'Check `hyperkube status`, then run the same command again; it resumes.',
  },
  KEYS_PODS_NOT_READY: {
    summary: 'Pods that were restarted to trust a new CA are not ready.',
    remedy: 'Check `kubectl get pods -A`. Then run the same command again; it resumes.',
  },
  KEYS_PODS_TRUST_PREVIOUS: {
    summary: 'Running pods may not trust the new CA of the cluster.',
    meaning:
      'Most programs read trusted CAs only at start. Once API servers use certificates of the new CA, these pods could no longer connect.',
    remedy:
      'Restart the pods with `kubectl rollout restart`, then run the same command again. Or add `--restart-pods`. If none of them uses the API, add `--ignore KEYS_PODS_TRUST_PREVIOUS`.',
  },
  KEYS_TOKENS_ALIVE: {
    summary: 'Service account tokens that the previous key signed are still in use.',
    meaning:
      'Tokens in pods are valid for an hour and are renewed. Tokens in Secrets never expire, and `kubectl create token --duration` sets its own lifetime. All become invalid when the previous key is dropped.',
    remedy:
      'Run the same command again after the time in the message. Delete and recreate the Secrets that it names. To invalidate all tokens now, add `--ignore KEYS_TOKENS_ALIVE`.',
  },
  KEYS_STILL_ENCRYPTED: {
    summary: 'Objects in etcd are still encrypted with the previous key.',
    meaning: 'They could not be decrypted without that key, so hyperkube keeps it.',
    remedy: 'Run the same command again; it encrypts the objects again and checks the result.',
  },
}
