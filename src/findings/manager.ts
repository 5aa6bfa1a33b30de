import type { Entries } from './entry.ts'

/** What the controller manager says in the log of its service. */
export const manager: Entries = {
  MANAGER_OPTIONS: {
    summary: 'A flag of the controller manager is missing, or has no value that it could have.',
    remedy: '`hyperkube controller-manager --help` explains all of them.',
  },
  MANAGER_CONTROLLER_UNKNOWN: {
    summary: '`--controllers` names a controller that does not exist.',
    meaning: 'Nothing was started: whoever turns one off by a wrong name would believe that it is off.',
    remedy: '`hyperkube controller-manager list` shows all of them.',
  },
  MANAGER_NOT_LOOPBACK: {
    summary: 'Health and metrics of the controller manager would be told to other machines, too.',
    meaning: 'They are told to whoever asks, and so only on addresses of the host itself.',
    remedy: 'Use an address such as `127.0.0.1:6447`, and have what collects metrics run on the host.',
  },
  MANAGER_NOT_LISTENING: {
    summary: 'The controller manager cannot listen where its health and metrics are told.',
    meaning: 'Mostly another program has the port. Nothing was started.',
    remedy: '`ss -ltnp` shows who listens; `--listen` takes another address.',
  },
  KUBECONFIG_NOT_READ: {
    summary: 'A kubeconfig cannot be read, or has nothing in it that can be used.',
    meaning:
      'It needs a current context with a server at https, its authority, and a client certificate with its key.',
    remedy: '`kubectl config view --kubeconfig FILE` shows what is in it, without its secrets.',
  },
  ELECTION_TIMING: {
    summary:
      'With these times, a leader could still act while the next one begins, or could never renew in time.',
    remedy:
      'Leave the three `--leader-elect-` flags out; or keep the lease longer than the deadline, and the deadline longer than one and a half pauses.',
  },
  LEADERSHIP_LOST: {
    summary:
      'A controller manager could not renew its lease in time, or somebody else has it, and it has stopped.',
    meaning:
      'Another one leads within seconds; the service of this one starts anew. Nothing is lost by it, but what makes it happen again and again must be found.',
    remedy:
      '`journalctl -u hyperkube-controller-manager` on control planes says since when; a slow etcd, a busy host or an API server that does not answer are what it mostly is.',
  },
}
