import type { Entries } from './entry.ts'

export const pki: Entries = {
  PKI_WISH: {
    summary: 'A planned certificate has a name or a lifetime that cannot be.',
    meaning: 'Nothing was signed.',
    remedy: '`hyperkube validate`; look at host names, addresses and `spec.api.sans`.',
  },
  PKI_AUTHORITY_NOT_VALID: {
    summary: 'An authority is not valid at this time.',
    meaning:
      'Its certificate has run out, or the clock of this machine is wrong. What it signs now, nobody would trust.',
    remedy:
      '`date -u` first: compare it with the period in the message. If the clock is right, the authority must be renewed.',
  },
  PKI_AUTHORITY_BROKEN: {
    summary: 'The certificate and the key of an authority do not belong together.',
    meaning: 'What it signs, nobody would trust.',
    remedy: 'Take `cluster.identity` from git or a backup, from before the last change to it.',
  },
  PKI_CERTIFICATE_NOT_READ: {
    summary: 'Something that should be a certificate is none.',
    remedy: '`openssl x509 -noout -text -in FILE` shows what a file holds.',
  },
  PKI_REQUEST_NOT_READ: {
    summary: 'What a host sent is not one certificate request in PEM.',
    meaning: 'Nothing was signed.',
    remedy:
      'Run the command again: the host makes a new one. If it comes back, look at the host before you trust it.',
  },
  PKI_REQUEST_KEY: {
    summary: 'A certificate request has a key of another kind than hyperkube makes.',
    meaning:
      'Nothing was signed. The request was not made by hyperkube’s agent, or by one of another release.',
    remedy: 'Run the command again. If it comes back, look at the host before you trust it.',
  },
  PKI_REQUEST_SIGNATURE: {
    summary: 'A certificate request is not signed by its own key.',
    meaning: 'Nothing was signed. It was changed on its way, or its sender does not have the key.',
    remedy: 'Run the command again. If it comes back, look at the host before you trust it.',
  },
  PKI_REQUEST_EXCEEDS_PLAN: {
    summary: 'A host asks for a certificate with more names or rights than the plan grants it.',
    meaning:
      'Nothing was signed. An intruder on a host would try exactly this; so does a host that has an old plan.',
    remedy:
      'Run the command again, with the cluster.yml that is in force. If it comes back, take the host off the network.',
  },
}
