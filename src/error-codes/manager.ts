import type { ErrorCodeEntries } from './entry.ts'

/** Codes that hyperkube-controller-manager logs. */
export const managerCodes: ErrorCodeEntries = {
  MANAGER_CONTROLLER_FAILED: {
    summary: 'A controller of hyperkube-controller-manager failed.',
    meaning:
      'The process ends, so that systemd restarts it and another control plane becomes leader. If the controller always fails, no controller works.',
    remedy:
      'Read `journalctl -u hyperkube-controller-manager` on the control planes. Until the cause is fixed, disable the controller in `spec.manager.controllers` and run `hyperkube up`.',
  },
  MANAGER_OPTIONS: {
    summary: 'A flag of the controller manager is missing or has an invalid value.',
    remedy: '`hyperkube controller-manager --help` explains all flags.',
  },
  MANAGER_SETTINGS: {
    summary: 'The settings file of the controller manager cannot be read or is invalid.',
    meaning: 'Nothing was started, because partial settings could have unwanted effects.',
    remedy: 'Omit `--settings`, or write the file again with `hyperkube up` in the directory of cluster.yml.',
  },
  MANAGER_SCHEDULE: {
    summary: 'The snapshot schedule is not a valid cron expression.',
    meaning: 'The controller manager does not start, because it would never take a snapshot.',
    remedy: 'Use five fields, in UTC: `0 */6 * * *` means every six hours.',
  },
  HOST_STALE_LEADER: {
    summary: 'A host refused the request of a controller manager that may no longer be the leader.',
    meaning:
      'Hosts refuse a lower fence than the highest they saw. After a restore of etcd the leader has a low fence; it raises the fence and retries.',
    remedy:
      'No action is needed if this occurs once or twice. Otherwise `kubectl -n kube-system get lease hyperkube-controller-manager -o yaml` shows the leader.',
  },
  HOST_REQUESTS_FULL: {
    summary: 'A host has too many pending requests of controllers.',
    meaning:
      'Its agent does not run or cannot reach the API. Controllers send no more requests until it responds.',
    remedy: 'Check `hyperkube status`, and `journalctl -u hyperkube-agent` on the host.',
  },
  HOST_REQUESTS_NOT_READ: {
    summary: 'The agent of a host cannot read its state of earlier requests.',
    meaning:
      'It refuses requests of controllers, because it could repeat one or obey an old leader. Everything else continues.',
    remedy:
      'If the disk is healthy, delete the file from the message on the host and run `systemctl restart hyperkube-agent`.',
  },
  STATUS_UNAVAILABLE: {
    summary: 'The cluster has no objects with the status of its hosts.',
    meaning: 'An older hyperkube release created the cluster. `kubectl` works as usual.',
    remedy:
      '`hyperkube status` reads the hosts over ssh. After `hyperkube up` agents report their status to the cluster.',
  },
  HOST_UNSUPPORTED: {
    summary: 'A controller requested an operation that the host does not support.',
    meaning: 'The host has no etcd member, or no service with that name. Nothing was changed.',
    remedy: 'No action is needed if the host was just changed: controllers read its next status.',
  },
  HOST_BUSY: {
    summary: 'A host refused the request of a controller because another operation was in progress.',
    meaning: 'An operator holds the lock, or etcd is being restored. Nothing was changed.',
    remedy: 'No action is needed; controllers retry later.',
  },
  MANAGER_CONTROLLER_UNKNOWN: {
    summary: '`--controllers` or `spec.manager.controllers` names an unknown controller.',
    meaning:
      'Nothing was started, because a misspelled name would leave a controller enabled that the operator believes to be disabled.',
    remedy: '`hyperkube controller-manager list` shows all controllers.',
  },
  MANAGER_NOT_LOOPBACK: {
    summary: 'Health and metrics of the controller manager would be reachable from other machines.',
    meaning: 'They have no authentication, so only loopback addresses are allowed.',
    remedy: 'Use an address such as `127.0.0.1:6447`, and collect the metrics on the host.',
  },
  MANAGER_NOT_LISTENING: {
    summary: 'The controller manager cannot listen on its address for health and metrics.',
    meaning: 'Usually another program uses the port. Nothing was started.',
    remedy: '`ss -ltnp` shows the process. `--listen` sets another address.',
  },
  KUBECONFIG_NOT_READ: {
    summary: 'A kubeconfig cannot be read or is not usable.',
    meaning:
      'It needs a current context with an https server, its CA, and a client certificate with its key.',
    remedy: '`kubectl config view --kubeconfig FILE` shows its content without secrets.',
  },
  ELECTION_TIMING: {
    summary:
      'The leader election times are invalid: two leaders could overlap, or a leader could never renew its lease.',
    remedy:
      'Omit the three `--leader-elect-` flags. Or set the lease longer than the deadline, and the deadline longer than 1.5 retry periods.',
  },
  LEADERSHIP_LOST: {
    summary: 'A controller manager lost its lease and has stopped.',
    meaning:
      'It could not renew the lease in time, or another one holds it. Another one becomes leader within seconds, and the service restarts. Only repeated losses need attention.',
    remedy:
      '`journalctl -u hyperkube-controller-manager` on control planes shows since when. Usual causes are a slow etcd, a busy host or an API server that does not respond.',
  },
}
