import type { ErrorCodeEntries } from './entry.ts'

export const pkiCodes: ErrorCodeEntries = {
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
