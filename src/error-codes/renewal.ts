import type { ErrorCodeEntries } from './entry.ts'

/** Codes that agents log while no operator is connected. */
export const renewalCodes: ErrorCodeEntries = {
  RENEWAL_TOO_LATE: {
    summary: 'A certificate of this host has expired, and its agent can no longer renew it.',
    meaning:
      'The host was off, or without API access, for more than a third of the lifetime, or its clock is wrong. Control planes sign only for valid certificates.',
    remedy:
      'Check `date -u` on the host. Then run `hyperkube certs renew HOST` where cluster.yml is; it uses ssh and needs no valid certificate.',
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
