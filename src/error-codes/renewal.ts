import type { Entries } from './entry.ts'

/** What agents say in the log of their service, while no operator is near. */
export const renewal: Entries = {
  RENEWAL_TOO_LATE: {
    summary: 'A certificate of this host has expired, and its agent cannot renew it any more.',
    meaning:
      'The host was off, or had no way to the API, for longer than a third of the lifetime; or its clock is wrong. Whoever has nothing valid to show gets nothing signed.',
    remedy:
      '`date -u` on the host first. Then, where cluster.yml is, `hyperkube certs renew HOST`: it reaches the host by ssh, and needs no certificate of it.',
    symptoms: ['certificates'],
  },
  RENEWAL_NO_WAY: {
    summary: 'A certificate is due on a host that is no node, and can ask nobody to sign a new one.',
    meaning:
      'Members of etcd on machines of their own have neither keys of authorities nor a way to the API. The certificate is still good.',
    remedy:
      '`hyperkube up` or `hyperkube certs renew HOST` before it expires; `hyperkube certs list` says when that is.',
    symptoms: ['certificates'],
  },
  RENEWAL_DENIED: {
    summary: 'A control plane has refused to renew a certificate that a node asked about.',
    meaning:
      'The message has its reason: mostly a certificate that has expired meanwhile, or an authority that was replaced. The node asks once more within two hours. The former certificate is still in place.',
    remedy:
      '`hyperkube certs renew HOST`. If the message says that the key is not theirs, somebody else has asked: look at the host before you trust it.',
    symptoms: ['certificates'],
  },
  RENEWAL_NOT_ANSWERED: {
    summary: 'A node has asked to have a certificate renewed, and no control plane has answered.',
    meaning:
      'The API is there, or the node would say so; but the agents of control planes do not run, or cannot sign. The certificate is still good.',
    remedy:
      '`hyperkube status`; on a control plane `journalctl -u hyperkube-agent` says what it complains of. `hyperkube certs renew HOST` needs none of them.',
    symptoms: ['certificates'],
  },
}
