import type { Entries } from './entry.ts'

/** What the controller manager says in the log of its service. */
export const manager: Entries = {
  MANAGER_OPTIONS: {
    summary: 'A flag of the controller manager is missing, or has no value that it could have.',
    remedy: '`hyperkube controller-manager --help` explains all of them.',
  },
  MANAGER_SETTINGS: {
    summary: 'The file with what was wished of controllers cannot be read, or makes no sense.',
    meaning: 'Nothing was started: half of what was wished would be another wish.',
    remedy: 'Leave `--settings` out, or have the file written anew where cluster.yml is: `hyperkube up`.',
  },
  MANAGER_SCHEDULE: {
    summary: 'A schedule for snapshots is none that cron would read.',
    meaning: 'The controller manager does not start with it: no snapshots would ever be taken.',
    remedy: 'Write five fields, in UTC: `0 */6 * * *` is every six hours.',
  },
  HOST_SAW_NEWER: {
    summary: 'A host was asked for something by a controller manager that may not lead any more.',
    meaning:
      'Hosts do nothing for a leader once a later one has asked. After a restore of etcd the right one has an old number: it raises it, and asks again by itself.',
    remedy:
      'Nothing, if it is said once or twice. If it goes on, `kubectl -n kube-system get lease hyperkube-controller-manager -o yaml` says who leads.',
  },
  HOST_REQUESTS_FULL: {
    summary: 'Controllers have asked more of a host than it has answered.',
    meaning:
      'Its agent does not run, or does not reach the API. Nothing more is asked of it until it answers.',
    remedy: 'Look at `hyperkube status`, and on the host at `journalctl -u hyperkube-agent`.',
  },
  HOST_REQUESTS_NOT_READ: {
    summary: 'The agent of a host cannot read what it has written of former requests.',
    meaning:
      'It does nothing of what controllers ask: it could do things twice, or for somebody who does not lead any more. All else that it does goes on.',
    remedy:
      'If the disk is well, remove the file that is named, on the host, and restart the agent: `systemctl restart hyperkube-agent`.',
  },
  STATUS_NOT_TOLD: {
    summary: 'A cluster has no objects in which it says how its hosts are.',
    meaning:
      'It was brought up by a release that did not have them yet. What it is for `kubectl` is as ever.',
    remedy:
      '`hyperkube status` looks at hosts by ssh. `hyperkube up` has agents tell the cluster from then on.',
  },
  HOST_CANNOT: {
    summary: 'A host was asked by a controller for something that it cannot do.',
    meaning: 'It has no member of etcd, or no service of that name. Nothing was done.',
    remedy: 'Nothing, if a host was just changed: controllers learn it from what its agent says next.',
  },
  HOST_TAKEN: {
    summary: 'A host did not do what a controller asked for, because somebody else had come before.',
    meaning: 'An operator is at work, or etcd is being restored. Nothing was done.',
    remedy: 'Nothing: controllers ask again later.',
  },
  MANAGER_CONTROLLER_UNKNOWN: {
    summary: '`--controllers`, or `spec.manager.controllers`, names a controller that does not exist.',
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
