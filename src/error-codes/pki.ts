import type { ErrorCodeEntries } from './entry.ts'

export const pkiCodes: ErrorCodeEntries = {
  KUBECONFIG_INVALID: {
    summary: 'The file for `hyperkube kubeconfig --merge` is not a valid kubeconfig.',
    meaning: 'Nothing was changed.',
    remedy:
      'Repair the file; `kubectl config view --kubeconfig FILE` names the problem. Or write a new file with `(umask 077; hyperkube kubeconfig > FILE)`.',
  },
  KUBECONFIG_CONFLICT: {
    summary: 'The existing kubeconfig has an entry of the same name for another cluster.',
    meaning: 'Server and CA differ from those in `cluster.yml`. Nothing was changed.',
    remedy:
      'Write a file of its own with `(umask 077; hyperkube kubeconfig > NAME.kubeconfig)`. Or rename the other cluster, its user and its context in the existing file.',
  },
  PKI_INVALID_SPEC: {
    summary: 'A planned certificate has an invalid name or lifetime.',
    meaning: 'Nothing was signed.',
    remedy: 'Run `hyperkube validate`. Check host names, addresses and `spec.api.sans`.',
  },
  PKI_CA_NOT_VALID: {
    summary: 'A CA certificate is not valid at this time.',
    meaning:
      'It has expired, or the clock of this machine is wrong. Peers would reject certificates that it signs.',
    remedy:
      'Compare `date -u` with the period in the message. If the clock is correct, replace the CA with `hyperkube certs rotate-ca`.',
  },
  PKI_CA_BROKEN: {
    summary: 'The certificate and the key of a CA do not match.',
    meaning: 'Peers would reject certificates that it signs.',
    remedy: 'Restore `cluster.identity` from git or a backup, in the version before its last change.',
  },
  PKI_KEY_TYPE: {
    summary: 'A key has a type with which hyperkube cannot sign certificates.',
    meaning: 'Adopted clusters may have CA keys that another tool created.',
    remedy: 'Replace the CA by one with an RSA key, or with an ECDSA key on P-256, P-384 or P-521.',
  },
  PKI_CERTIFICATE_NOT_READ: {
    summary: 'A certificate is invalid.',
    remedy: '`openssl x509 -noout -text -in FILE` shows the content of a file.',
  },
  PKI_REQUEST_NOT_READ: {
    summary: 'A host sent an invalid certificate request.',
    meaning: 'Nothing was signed.',
    remedy:
      'Run the same command again; the host creates a new request. If it fails again, inspect the host before you trust it.',
  },
  PKI_REQUEST_KEY: {
    summary: 'A certificate request has another key type than hyperkube uses.',
    meaning:
      'Nothing was signed. The request does not come from a hyperkube agent, or from an agent of another release.',
    remedy: 'Run the same command again. If it fails again, inspect the host before you trust it.',
  },
  PKI_REQUEST_SIGNATURE: {
    summary: 'The signature of a certificate request is invalid.',
    meaning: 'Nothing was signed. The request was changed on the way, or its sender does not have the key.',
    remedy: 'Run the same command again. If it fails again, inspect the host before you trust it.',
  },
  PKI_REQUEST_EXCEEDS_PLAN: {
    summary: 'A host requests a certificate with more names or usages than its plan allows.',
    meaning: 'Nothing was signed. An attacker on a host would try this; a host with an old plan does too.',
    remedy:
      'Run the same command again with the current cluster.yml. If it fails again, disconnect the host from the network.',
  },
}

/** Codes of certificate renewal. Agents log them, because no operator is connected during a renewal. */
export const renewalCodes: ErrorCodeEntries = {
  RENEWAL_TOO_LATE: {
    summary: 'A certificate of this host has expired, and its agent can no longer renew it.',
    meaning:
      'The host was off, or without API access, for more than a third of the lifetime, or its clock is wrong. Control planes sign only for valid certificates.',
    remedy:
      'Check `date -u` on the host. Then run `hyperkube certs renew HOST` in the directory of cluster.yml; it uses ssh and needs no valid certificate.',
    symptoms: ['certificates'],
  },
  RENEWAL_NO_API: {
    summary: 'A certificate is due on a host that is not a node and cannot request a renewal.',
    meaning: 'Dedicated etcd hosts have neither CA keys nor API access. The certificate is still valid.',
    remedy:
      'Run `hyperkube up` or `hyperkube certs renew HOST` before it expires. `hyperkube certs list` shows the date.',
    symptoms: ['certificates'],
  },
  RENEWAL_DENIED: {
    summary: 'A control plane denied the certificate renewal of a node.',
    meaning:
      'The message holds the reason, usually an expired certificate or a replaced CA. The node retries within two hours. The previous certificate is still in place.',
    remedy:
      'Run `hyperkube certs renew HOST`. If the message says that the key does not match, another machine sent the request: inspect the host before you trust it.',
    symptoms: ['certificates'],
  },
  RENEWAL_NO_RESPONSE: {
    summary: 'A node requested a certificate renewal, and no control plane responded.',
    meaning:
      'The API works, but the agents of the control planes do not run or cannot sign. The certificate is still valid.',
    remedy:
      'Check `hyperkube status`, and `journalctl -u hyperkube-agent` on a control plane. `hyperkube certs renew HOST` works without these agents.',
    symptoms: ['certificates'],
  },
}

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
      'Tokens in pods are valid for an hour and are renewed. If cluster.yml sets `service-account-extend-token-expiration`, as that of an adopted cluster does, programs can use a token for a year, so pods that are older than the new key must restart. Tokens in Secrets never expire, and `kubectl create token --duration` sets its own lifetime. All become invalid when the previous key is dropped.',
    remedy:
      'Run the same command again after the time in the message. Restart the pods that it names. Delete and recreate the Secrets that it names. To invalidate all tokens now, add `--ignore KEYS_TOKENS_ALIVE`.',
  },
  KEYS_ENCRYPTION_IMPORTED: {
    summary: 'The encryption keys of an adopted cluster cannot be rotated.',
    meaning:
      'The cluster had an encryption configuration of its own when it was adopted, and keeps it. A new key of hyperkube would not be in that configuration, so it would encrypt nothing. A rotation that hyperkube 0.1.0 started has no effect and prevents nothing.',
    remedy:
      'Rotate the other keys, and leave a started rotation of this key as it is. To change the encryption key as well, replace it with the previous tool before you adopt the cluster.',
  },
  KEYS_STILL_ENCRYPTED: {
    summary: 'Objects in etcd are still encrypted with the previous key.',
    meaning: 'They could not be decrypted without that key, so hyperkube keeps it.',
    remedy: 'Run the same command again; it encrypts the objects again and checks the result.',
  },
}
